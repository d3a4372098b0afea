"""From the text of an expression to the tree that JSONata evaluates."""

from __future__ import annotations

from functools import lru_cache

from jsonata.jexception import JException
from jsonata.parser import Parser

from stellwerk.workflows.expressions.braces import Malformed
from stellwerk.workflows.expressions.patterns import compile_pattern

_REMEDY = "Check brackets, quotes and operators at that place."


@lru_cache(maxsize=2048)
def parse(source: str) -> Parser.Symbol:
    """Return the tree of `source`, which evaluations share and do not change; raise Malformed."""
    try:
        return Parser().parse(source, compile_pattern)
    except Malformed:
        raise
    except JException as error:
        near = source[max(0, error.location - 12) : error.location + 8]
        message = f"cannot be read: {_sentence(error)} (near {near!r})"
        raise Malformed(message, remedy=_REMEDY) from error
    except RecursionError as error:
        raise Malformed("nests too deeply to be read", remedy="Split it.") from error
    except (LookupError, TypeError, ValueError, AttributeError, NotImplementedError) as error:
        raise Malformed("cannot be read: it ends or breaks off", remedy=_REMEDY) from error


def _sentence(error: JException) -> str:
    text = str(error).strip()
    return text[:1].lower() + text[1:]
