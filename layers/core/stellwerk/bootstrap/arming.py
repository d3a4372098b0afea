"""What arms the triggers of workflows. Imported only when a workflow changes."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.aws.mailboxes import DynamoMailboxes
from stellwerk.bootstrap.hooking import hook_part
from stellwerk.bootstrap.later import Means
from stellwerk.bootstrap.occurring import event_parts
from stellwerk.bootstrap.scheduling import schedule_part
from stellwerk.runs.blueprints import Blueprints
from stellwerk.runs.values import Keeper
from stellwerk.triggers.arming import Arming
from stellwerk.triggers.mail.part import MailPart
from stellwerk.triggers.model import Part


def arming(means: Means) -> Arming:
    """Return what arms triggers in a deployment."""
    blueprints = Blueprints(means.versions, Keeper(means.stores.values))
    return Arming(means.versions, blueprints, means.catalogue, _parts(means))


def _parts(means: Means) -> Sequence[Part]:
    """Return who sees to which kind of trigger."""
    return [hook_part(means), *event_parts(means), schedule_part(means), _mail_part(means)]


def _mail_part(means: Means) -> MailPart:
    mailboxes = DynamoMailboxes(means.stores.items(means.settings.platform_table))
    return MailPart(mailboxes, means.clock)
