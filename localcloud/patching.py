"""How a repair reaches moto: it replaces one attribute of one class or module while the cloud runs.

A difference that can be mended by subclassing is no repair: see `environment`, `execution`,
`backend`. What is left replaces methods of the interpreter's components, one repair each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TypeVar

Replacement = TypeVar("Replacement", bound=Callable[..., object])


@dataclass(frozen=True)
class Repair:
    """One difference between moto and AWS, mended in one place.

    What AWS does is the docstring of `replacement`.
    """

    owner: object
    attribute: str
    replacement: object

    @property
    def name(self) -> str:
        """`<owner>.<attribute>`, for messages."""
        return f"{getattr(self.owner, '__name__', self.owner)}.{self.attribute}"


class Mended:
    """Collects the repairs of one module, by decorator."""

    def __init__(self) -> None:
        self.repairs: list[Repair] = []

    def of(self, owner: object, attribute: str) -> Callable[[Replacement], Replacement]:
        """Register the decorated function as what `owner.attribute` shall be."""

        def register(replacement: Replacement) -> Replacement:
            self.add(owner, attribute, replacement)
            return replacement

        return register

    def add(self, owner: object, attribute: str, replacement: object) -> None:
        """Register `replacement` as what `owner.attribute` shall be."""
        if not hasattr(owner, attribute):
            raise AttributeError(f"moto has no {Repair(owner, attribute, None).name} to repair")
        self.repairs.append(Repair(owner, attribute, replacement))


@contextmanager
def applied(repairs: Iterable[Repair]) -> Iterator[None]:
    """Replace while the block runs, and put back what was there."""
    with ExitStack() as stack:
        for repair in repairs:
            own = vars(repair.owner).get(repair.attribute, _INHERITED)
            stack.callback(_put_back, repair, own)
            setattr(repair.owner, repair.attribute, repair.replacement)
        yield


_INHERITED = object()


def _put_back(repair: Repair, own: object) -> None:
    if own is _INHERITED:
        delattr(repair.owner, repair.attribute)
    else:
        setattr(repair.owner, repair.attribute, own)
