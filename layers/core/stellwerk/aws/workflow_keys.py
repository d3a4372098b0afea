"""Keys of what finds workflows and versions, all on the table `platform`.

| item | pk (after mandate#instance) | sk |
|---|---|---|
| workflow in its owner's list | slugs#owner | the slug |
| workflow by tag | tag#sha256 | the slug |
| workflow by tag in its owner's list | tag#sha256#owner | the slug |
| workflow by a word of title or slug | words | word#slug |
| workflow by a word in its owner's list | words#owner | word#slug |
| workflow that the mandate shares (no instance) | shared | slug#instance#W |
| version by what it means | workflow#W | hash#sha256 |
| draft as it was for a trial | workflow#W | trial#00000012#hash |
| version or trial whose machines are to go | retiring | W#00000012#hash |
"""

from __future__ import annotations

import hashlib

from stellwerk.aws import keys
from stellwerk.aws.keys import Key
from stellwerk.kernel.ids import UserId, WorkflowId
from stellwerk.tenancy.scope import NO_INSTANCE, Scope


def listed(scope: Scope, slug: str, *, owner: UserId | None = None, tag: str = "") -> Key:
    """Return the key of a workflow in a list by slug: of all, of an owner, of a tag, of both."""
    shelf = f"tag#{_digest(tag)}" if tag else "slugs"
    return Key(_within(scope, _of(shelf, owner)), slug)


def word(scope: Scope, word: str, slug: str = "", *, owner: UserId | None = None) -> Key:
    """Return the key of a workflow by a word; without slug what all keys of the word begin with."""
    return Key(_within(scope, _of("words", owner)), f"{word}#{slug}" if slug else word)


def shared(scope: Scope, slug: str, workflow: WorkflowId) -> Key:
    """Return the key of a workflow of the scope's instance in the mandate's list."""
    mandate = scope.at(NO_INSTANCE)
    return Key(_within(mandate, "shared"), f"{slug}#{scope.instance}#{workflow}")


def meaning(scope: Scope, workflow: WorkflowId, graph_hash: str) -> Key:
    """Return the key of the entry that names the version with that graph."""
    return Key(keys.workflow(scope, workflow).pk, f"hash#{graph_hash}")


def trial(scope: Scope, workflow: WorkflowId, number: int, trial: str) -> Key:
    """Return the key of a draft as it was for a trial."""
    return Key(keys.workflow(scope, workflow).pk, f"trial#{number:08d}#{trial}")


def retiring(scope: Scope, workflow: WorkflowId, number: int, trial: str) -> Key:
    """Return the key of the entry of a version, or trial, whose machines are to go."""
    return Key(_within(scope, "retiring"), f"{workflow}#{number:08d}#{trial}")


def _of(shelf: str, owner: UserId | None) -> str:
    return f"{shelf}#{owner}" if owner else shelf


def _within(scope: Scope, partition: str) -> str:
    return f"{scope.mandate}#{scope.instance}#{partition}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
