"""The compiler: a graph becomes state machines, in passes over frozen data.

1. `normalise`: the drawn graph becomes levels of steps in one fixed order.
2. `liveness`: which steps must, may or cannot be alive together.
3. `plan`: each level becomes a sequence of single steps and forks, each step exactly once; joins
   that would wait for a stranger become gates.
4. `tracks`, `tasks`, `loops`: sequences become states, transitions jump over what is dead,
   variables (`scopes`) carry the ports of steps to where something asks for them.
5. `budget`: loops that could outgrow an execution are rolled over to child machines.
6. `asl`: states become the text of a definition.

Control lies in the machine, data in the journal: a definition holds no text of a user but names.
"""

from stellwerk.workflows.compile.machines import Compiled, CompileOptions, compile_graph

__all__ = ["CompileOptions", "Compiled", "compile_graph"]
