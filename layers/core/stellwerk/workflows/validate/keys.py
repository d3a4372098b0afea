"""Rules for keys and types of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stellwerk.catalogue.model import Catalogue
from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import KEY_PATTERN
from stellwerk.workflows.validate.subject import Subject
from stellwerk.workflows.validate.wording import as_key, did_you_mean, shown

_KEY = re.compile(KEY_PATTERN.removesuffix("$"))


def check_keys(keys: Mapping[int, NodeKey]) -> Iterator[Fault]:
    """Yield malformed and repeated keys of nodes, given by position."""
    seen: dict[NodeKey, int] = {}
    for position, key in keys.items():
        place = f"nodes[{position}].key"
        if not _KEY.fullmatch(key):
            proposal = as_key(key)
            remedy = f"For instance {proposal}. " if proposal else ""
            yield Fault(
                Code.KEY_MALFORMED,
                f"The key {shown(key)} is not allowed.",
                remedy + Code.KEY_MALFORMED.value.remedy,
                node=key,
                place=place,
            )
        if key in seen:
            yield Fault(
                Code.KEY_DUPLICATE,
                f"The key {shown(key)} is already that of nodes[{seen[key]}].",
                node=key,
                place=place,
            )
        seen.setdefault(key, position)


def check_types(subject: Subject, catalogue: Catalogue) -> Iterator[Fault]:
    """Yield types that do not exist, or are no nodes."""
    for node in subject.graph.by_key.values():
        found = subject.types.get(node.key)
        if found is None:
            names = [known.type for known in catalogue.types() if known.node]
            yield Fault(
                Code.TYPE_UNKNOWN,
                f"Node {node.key}: there is no type {shown(node.type)}.",
                f"{did_you_mean(node.type, names)} {Code.TYPE_UNKNOWN.value.remedy}".strip(),
                node=node.key,
            )
        elif not found.node:
            yield Fault(
                Code.TYPE_NOT_A_NODE,
                f"Node {node.key}: {node.type} can be used by agents only.",
                node=node.key,
            )
