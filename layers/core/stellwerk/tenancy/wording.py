"""Names and descriptions that people give to things."""

from __future__ import annotations

from stellwerk.kernel.errors import BadInput

LONGEST = 120
LONGEST_DESCRIPTION = 1000


def named(text: str, what: str) -> str:
    """Return a name without spaces around it. Raises BadInput for an empty, long or odd one."""
    name = text.strip()
    if not 0 < len(name) <= LONGEST or not name.isprintable():
        raise BadInput(
            f"the {what} '{name[:40]}' cannot be used",
            remedy=f"Give 1 to {LONGEST} characters, all of them printable.",
        )
    return name


def described(text: str) -> str:
    """Return a description without spaces around it. Raises BadInput for one that is too long."""
    description = text.strip()
    if len(description) > LONGEST_DESCRIPTION:
        raise BadInput(
            f"the description has {len(description)} characters",
            remedy=f"Say it in {LONGEST_DESCRIPTION}.",
        )
    return description
