"""Step Functions on moto's interpreter, repaired.

An execution goes through here in this order: `backend` answers the API and refuses (`refusals`,
`definition`) what AWS refuses; `execution` gives the machine a thread; `environment` is where each
branch stands, waits and is woken; `repairs` mends the interpreter's components one by one;
`tokens`, `variables`, `history` and `jsonata` are what those lean on. `install` puts all in place.
"""

from __future__ import annotations

from importlib import import_module

from localcloud.stepfunctions.sparing import without_batch

with without_batch():
    import_module("moto.stepfunctions.parser.asl.parse.preprocessor")
