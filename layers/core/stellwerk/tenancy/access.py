"""Who may do what: rules, the grants a principal holds, and the decision about one act.

`decide` is a pure function; `docs/access.md` shows its truth table, which is its test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId


class Context(StrEnum):
    """What kind of thing a rule is about."""

    UI = "UI"  # pages and buttons
    RESOURCE = "RESOURCE"  # operations
    DATA = "DATA"  # rows


class Verb(StrEnum):
    """What someone wants to do. UI and RESOURCE know `view` alone: see it, or make use of it."""

    VIEW = "view"
    READ = "read"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


class Level(StrEnum):
    """To which rows a verb reaches."""

    NONE = "none"
    MY = "my"  # created by me
    INSTANCE = "instance"  # of the feature instance
    ALL = "all"  # of the mandate

    @property
    def rank(self) -> int:
        """How much it allows; more is higher."""
        return list(Level).index(self)


class Priority(IntEnum):
    """Where a role was given; the highest that says anything about an item decides alone."""

    GLOBAL = 1
    MANDATE = 2
    INSTANCE = 3


GENERIC = "*"


class AccessRule(BaseModel):
    """What a role says about an item: `ui.x.editor`, all that begins like `ui.x.*`, or `*`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    context: Context
    item: str = GENERIC
    view: bool = False
    read: Level = Level.NONE
    create: Level = Level.NONE
    update: Level = Level.NONE
    delete: Level = Level.NONE

    def specificity(self, item: str) -> int | None:
        """Return how closely the rule fits `item`, None if not: exact, longer, shorter, generic."""
        if self.item == item:
            return len(item) + 1
        if self.item == GENERIC:
            return 0
        if self.item.endswith(".*") and item.startswith(self.item[:-1]):
            return len(self.item) - 1
        return None

    def level(self, verb: Verb) -> Level:
        """Return what the rule grants; for `view`, `all` or `none`."""
        if verb is Verb.VIEW:
            return Level.ALL if self.view else Level.NONE
        levels = {
            Verb.READ: self.read,
            Verb.CREATE: self.create,
            Verb.UPDATE: self.update,
            Verb.DELETE: self.delete,
        }
        return levels[verb]


@dataclass(frozen=True)
class Grant:
    """A role that a principal holds at a priority, with the role's rules."""

    priority: Priority
    role: RoleId
    label: str
    rules: tuple[AccessRule, ...]


@dataclass(frozen=True)
class Principal:
    """Who acts, with all roles that count where the act happens."""

    user: UserId
    grants: tuple[Grant, ...] = ()


@dataclass(frozen=True)
class Row:
    """The row that an act is about."""

    mandate: MandateId
    instance: InstanceId
    created_by: UserId


@dataclass(frozen=True)
class Place:
    """Where the act happens: the mandate and instance under which the principal came."""

    mandate: MandateId
    instance: InstanceId


@dataclass(frozen=True)
class Decision:
    """Whether an act is allowed, to which rows, by which role and rule, and why in a sentence."""

    allowed: bool
    level: Level
    reason: str
    role: str = ""
    rule: AccessRule | None = None


@dataclass(frozen=True)
class _Answer:
    grant: Grant
    rule: AccessRule
    level: Level


def decide(
    principal: Principal,
    context: Context,
    item: str,
    verb: Verb,
    *,
    place: Place,
    row: Row | None = None,
) -> Decision:
    """Decide about `verb` on `item`, for a list (no row) or for one row.

    The highest priority with any matching rule decides alone; in it each role answers by its most
    specific match, and the most permissive answer wins. No match at all: denied.
    """
    for priority in sorted(Priority, reverse=True):
        answers = list(_answers(principal, priority, context, item, verb))
        if answers:
            best = max(answers, key=lambda answer: answer.level.rank)
            return _conclude(principal, best, priority, item, verb, place=place, row=row)
    reason = f"no role of '{principal.user}' has a {context} rule that matches '{item}'"
    return Decision(allowed=False, level=Level.NONE, reason=reason)


def closest(
    rules: Iterable[AccessRule], context: Context, item: str, verb: Verb
) -> AccessRule | None:
    """Return the most specific rule that matches, of equals the most permissive; None if none."""
    matching = [
        (specificity, rule.level(verb).rank, rule)
        for rule in rules
        if rule.context is context and (specificity := rule.specificity(item)) is not None
    ]
    return max(matching, key=lambda match: match[:2])[2] if matching else None


def _answers(
    principal: Principal, priority: Priority, context: Context, item: str, verb: Verb
) -> Iterator[_Answer]:
    for grant in principal.grants:
        if grant.priority is priority and (rule := closest(grant.rules, context, item, verb)):
            yield _Answer(grant, rule, rule.level(verb))


def _conclude(
    principal: Principal,
    answer: _Answer,
    priority: Priority,
    item: str,
    verb: Verb,
    *,
    place: Place,
    row: Row | None,
) -> Decision:
    where = f"{priority.name.lower()} role '{answer.grant.label}'"
    says = f"its rule for '{answer.rule.item}'"
    if answer.level is Level.NONE:
        allowed, reason = False, f"{where} denies '{verb}' on '{item}': {says} does not grant it"
    elif row is None or _reaches(principal, answer.level, place, row):
        allowed, reason = True, f"{where} grants '{verb}' on '{item}' ({answer.level}): {says}"
    else:
        allowed = False
        reason = (
            f"{where} grants '{verb}' on '{item}' only for '{answer.level}', "
            f"and this row is not of these: {says}"
        )
    return Decision(
        allowed=allowed,
        level=answer.level,
        reason=reason,
        role=answer.grant.label,
        rule=answer.rule,
    )


def _reaches(principal: Principal, level: Level, place: Place, row: Row) -> bool:
    if row.mandate != place.mandate:
        return False
    if level is Level.ALL:
        return True
    if level is Level.INSTANCE:
        return row.instance == place.instance
    return row.created_by == principal.user and row.instance == place.instance
