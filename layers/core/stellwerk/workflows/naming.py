"""Names: the slug by which people and workflows call a workflow, and those of its machines."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import NodeKey
from stellwerk.tenancy.scope import Scope

LONGEST_SLUG = 40
LONGEST_MACHINE = 80
_SLUG = re.compile(rf"^[a-z0-9][a-z0-9-]{{0,{LONGEST_SLUG - 1}}}$")
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def slug_of(title: str) -> str:
    """Return the slug of a title: `Überfällige Rechnung` is `ueberfaellige-rechnung`."""
    german = unicodedata.normalize("NFC", title).lower().translate(_GERMAN)
    plain = unicodedata.normalize("NFKD", german).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[: LONGEST_SLUG + 1].strip("-")
    return slug[:LONGEST_SLUG].strip("-") or "workflow"


def check_slug(slug: str) -> str:
    """Return `slug`; raise BadInput if it is none."""
    if not _SLUG.match(slug):
        raise BadInput(
            f"'{slug}' cannot be the short name of a workflow",
            remedy=f"Use up to {LONGEST_SLUG} small letters, digits and hyphens, as in "
            f"'{slug_of(slug)}'.",
        )
    return slug


def machine_name(scope: Scope, slug: str, number: int, loop: NodeKey, definition: str) -> str:
    """Return the name of a version's machine, or of the one that runs chunks of `loop`.

    It ends with a hash of what it stands for, so equal names mean equal machines, and begins with
    what people look for in the console. What is too long is cut in the middle.
    """
    identity = "\n".join((scope.instance, slug, loop, definition))
    hash8 = hashlib.sha256(identity.encode()).hexdigest()[:8]
    tail = f"-v{number}{f'-{loop[:20]}' if loop else ''}-{hash8}"
    head = f"{scope.mandate}-{slug}"
    return head[: LONGEST_MACHINE - len(tail)].rstrip("-") + tail
