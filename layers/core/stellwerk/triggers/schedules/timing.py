"""The parameters of a `trigger.schedule`, read: when it is due, and what holds then."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonValue
from stellwerk.triggers.schedules.cron import Cron, read_cron

Nonexistent = Literal["run_after", "skip"]
CatchUp = Literal["none", "last", "all"]
Overlap = Literal["allow", "skip", "queue", "replace"]
ZONE = "Europe/Zurich"
SHORTEST, LONGEST = timedelta(minutes=1), timedelta(days=366)
CAP, MOST = 10, 100
"""How many missed times are made good by default, and at most."""
SPACING = timedelta(minutes=1)
_WORDS = re.compile(r"every (?:(\d{1,6}) )?(minute|hour|day|week)s?", re.IGNORECASE)
_ISO = re.compile(
    r"P(?=.)(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?"
)
_UNITS = ("weeks", "days", "hours", "minutes", "seconds")
_ODD_ZONES = {"localtime", "posixrules", "Factory"}
T = TypeVar("T")


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a parameter."""

    parameter: str
    message: str
    remedy: str = ""


class BadSchedule(BadInput):
    """Parameters that are no schedule; `faults` names all that is wrong."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        remedies = dict.fromkeys(fault.remedy for fault in faults if fault.remedy)
        super().__init__(" ".join(fault.message for fault in faults), remedy=" ".join(remedies))
        self.faults = faults


@dataclass(frozen=True)
class Timing:
    """When a schedule is due: exactly one of `cron`, `interval` and `at` is there."""

    zone: ZoneInfo
    nonexistent: Nonexistent = "run_after"
    cron: Cron | None = None
    interval: timedelta | None = None
    at: datetime | None = None
    """As the clock on the wall of `zone` shows it."""


@dataclass(frozen=True)
class Policy:
    """What holds when times were missed, and when the run before has not ended."""

    catch_up: CatchUp = "none"
    cap: int = CAP
    spacing: timedelta = SPACING
    overlap: Overlap = "allow"


@dataclass(frozen=True)
class Schedule:
    """A schedule as its parameters say it."""

    timing: Timing
    policy: Policy


def read_schedule(parameters: Mapping[str, JsonValue]) -> Schedule:
    """Return the schedule, whatever else there is; raise BadSchedule that names every fault."""
    reader = _Reader(parameters)
    zone = reader.read("zone", _zone, ZoneInfo("UTC"), ZONE)
    timing = Timing(
        zone=zone,
        nonexistent=reader.choice("nonexistent", "run_after", "skip"),
        cron=reader.read("cron", read_cron, None),
        interval=reader.read("interval", interval_of, None),
        at=reader.read("at", _wall_clock, None),
    )
    policy = Policy(
        catch_up=reader.choice("catch_up", "none", "last", "all"),
        cap=reader.number("catch_up_cap", CAP, MOST),
        spacing=reader.read("catch_up_spacing", _spacing, SPACING),
        overlap=reader.choice("overlap", "allow", "skip", "queue", "replace"),
    )
    reader.check_one()
    reader.check_exists(timing)
    reader.check()
    return Schedule(timing, policy)


def interval_of(text: str) -> timedelta:
    """Return the time between two runs, such as `PT15M` or `every 15 minutes`; raise BadInput."""
    interval = _duration(text)
    if interval < SHORTEST:
        raise BadInput(
            f"'{text}' is shorter than a minute: the Scheduler fires to the minute.",
            remedy="Take at least PT1M.",
        )
    if interval > LONGEST:
        raise BadInput(f"'{text}' is longer than 366 days.", remedy="Use cron or at.")
    if interval.seconds % 60:
        raise BadInput(
            f"'{text}' is not a whole number of minutes: the Scheduler fires to the minute.",
            remedy="Round it to minutes.",
        )
    return interval


def exists(moment: datetime, zone: ZoneInfo) -> bool:
    """Say whether the clock on the wall of `zone` ever shows `moment`."""
    there = moment.replace(tzinfo=zone, fold=0)
    back = there.astimezone(ZoneInfo("UTC")).astimezone(zone)
    return back.replace(tzinfo=None) == moment


def _duration(text: str) -> timedelta:
    words = _WORDS.fullmatch(text.strip())
    if words is not None:
        return timedelta(**{f"{words[2].lower()}s": int(words[1] or 1)})
    found = _ISO.fullmatch(text)
    if found is None:
        raise BadInput(
            f"'{text}' is no duration.", remedy="Write PT15M, P1DT12H or every 15 minutes."
        )
    return timedelta(
        **{unit: int(part) for unit, part in zip(_UNITS, found.groups(), strict=True) if part}
    )


def _spacing(text: str) -> timedelta:
    spacing = _duration(text)
    if spacing > timedelta(days=1):
        raise BadInput(f"'{text}' is longer than a day.", remedy="Take less.")
    return spacing


def _wall_clock(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"'{text}' is no moment.", remedy="Write 2026-12-24T18:00:00.") from None
    if moment.tzinfo is not None:
        raise BadInput(
            f"'{text}' must not have an offset: `zone` says how it is read.",
            remedy="Leave the offset out.",
        )
    if moment.second or moment.microsecond:
        raise BadInput(
            f"'{text}' has seconds other than 0: the Scheduler fires to the minute.",
            remedy="Take a full minute.",
        )
    return moment


def _zone(name: str) -> ZoneInfo:
    odd = name in _ODD_ZONES or name.startswith(("posix/", "right/"))
    try:
        return ZoneInfo("" if odd else name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadInput(
            f"'{name}' is no time zone.", remedy="Take an IANA name, such as Europe/Zurich."
        ) from None


class _Reader:
    """Reads parameters and collects what is wrong with them."""

    def __init__(self, parameters: Mapping[str, JsonValue]) -> None:
        self._parameters = parameters
        self._faults: list[Fault] = []

    def read(self, name: str, read: Callable[[str], T], otherwise: T, default: str = "") -> T:
        value = self._parameters.get(name)
        text = default if value is None else value
        if text == "" and value is None:
            return otherwise
        if not isinstance(text, str):
            self._fault(name, f"Parameter {name} must be a text.")
            return otherwise
        if "{{" in text:
            self._fault(name, f"Parameter {name} is an expression, but is read before any run.")
            return otherwise
        try:
            return read(text)
        except BadInput as error:
            self._faults.append(Fault(name, error.message, error.remedy))
            return otherwise

    def choice(self, name: str, default: T, *others: T) -> T:
        value = self._parameters.get(name)
        for one in (default, *others):
            if value in {None, one}:
                return one
        named = ", ".join(str(one) for one in (default, *others))
        self._fault(name, f"Parameter {name} must be one of {named}.")
        return default

    def number(self, name: str, default: int, most: int) -> int:
        value = self._parameters.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            self._fault(name, f"Parameter {name} must be a whole number from 1 to {most}.")
            return default
        return value

    def check_one(self) -> None:
        ways = ("cron", "interval", "at")
        given = [way for way in ways if self._parameters.get(way) is not None]
        if len(given) != 1:
            place = given[1] if given else "cron"
            self._fault(place, "A schedule needs exactly one of `cron`, `interval` and `at`.")

    def check_exists(self, timing: Timing) -> None:
        if timing.at is None or timing.nonexistent == "run_after" or self._faults:
            return
        if not exists(timing.at, timing.zone):
            self._fault("at", f"The clocks of {timing.zone} never show {timing.at.isoformat()}.")

    def check(self) -> None:
        if self._faults:
            raise BadSchedule(tuple(self._faults))

    def _fault(self, parameter: str, message: str) -> None:
        self._faults.append(Fault(parameter, message))
