"""Names: the slug by which people and workflows call a workflow, and those of its machines."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass

from stellwerk.kernel.errors import BadInput
from stellwerk.tenancy.scope import Scope

LONGEST_SLUG = 40
LONGEST_MACHINE = 80
LONGEST_WORD = 30
MOST_WORDS = 12
"""Words by which a workflow is found: each is an entry of two lists."""
SLUG_PATTERN = rf"^[a-z0-9][a-z0-9-]{{0,{LONGEST_SLUG - 1}}}$"
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def slug_of(title: str) -> str:
    """Return the slug of a title: `Überfällige Rechnung` is `ueberfaellige-rechnung`."""
    slug = "-".join(_words(title))[:LONGEST_SLUG].strip("-")
    return slug or "workflow"


def words_of(*texts: str) -> tuple[str, ...]:
    """Return the first different words of the texts in small plain letters, sorted."""
    found = dict.fromkeys(word[:LONGEST_WORD] for text in texts for word in _words(text))
    return tuple(sorted([*found][:MOST_WORDS]))


def check_slug(slug: str) -> str:
    """Return `slug`; raise BadInput if it is none."""
    if not re.fullmatch(SLUG_PATTERN, slug):
        raise BadInput(
            f"'{slug}' cannot be the short name of a workflow",
            remedy=f"Use up to {LONGEST_SLUG} small letters, digits and hyphens, as in "
            f"'{slug_of(slug)}'.",
        )
    return slug


@dataclass(frozen=True)
class MachineName:
    """What the name of a machine says: of which workflow and version it is.

    `edition` is `v3`, or `test` for a draft's. `rebuilt` counts how often the version's machines
    were removed: a name is not used again while its machine may still be going away.
    """

    slug: str
    edition: str
    rebuilt: int = 0

    def of(self, scope: Scope, loop: str, definition: str) -> str:
        """Return the name of the workflow's own machine, or of the one that runs chunks of `loop`.

        It ends with a hash of what it stands for, so equal names mean equal machines, and begins
        with what people look for in the console. What is too long is cut in the middle.
        """
        again = (str(self.rebuilt),) if self.rebuilt else ()
        identity = "\n".join((scope.instance, self.slug, loop, definition, *again))
        hash8 = hashlib.sha256(identity.encode()).hexdigest()[:8]
        tail = f"-{self.edition}{f'-{loop[:20]}' if loop else ''}-{hash8}"
        head = f"{scope.mandate}-{self.slug}"
        return head[: LONGEST_MACHINE - len(tail)].rstrip("-") + tail


def _words(text: str) -> list[str]:
    german = unicodedata.normalize("NFC", text).lower().translate(_GERMAN)
    plain = unicodedata.normalize("NFKD", german).encode("ascii", "ignore").decode()
    return re.findall(r"[a-z0-9]+", plain)
