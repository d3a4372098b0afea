"""What has to do with mailboxes. Imported by those alone that watch or wait there."""

from __future__ import annotations

from stellwerk.aws.files import DynamoFiles
from stellwerk.aws.mailboxes import DynamoMailboxes
from stellwerk.bootstrap.connecting import connection_services
from stellwerk.bootstrap.running import Services
from stellwerk.triggers.mail.desk import MailDesk
from stellwerk.triggers.mail.handing import Handing
from stellwerk.triggers.mail.polling import Poller, Sorting
from stellwerk.triggers.mail.rounds import MailRounds
from stellwerk.triggers.mail.waits import MailWaits


def mail_desk(running: Services) -> MailDesk:
    """Return what nodes ask of mailboxes."""
    press, world = running.press, running.assembly.world
    used = connection_services(running.settings, running.stores, press.audit, press.clock)
    mailboxes = DynamoMailboxes(running.stores.items(running.settings.platform_table))
    return MailDesk(world.actors, used.accounts, MailWaits(world, mailboxes))


def mail_rounds(running: Services) -> MailRounds:
    """Return what goes round all mailboxes that are watched."""
    settings, stores = running.settings, running.stores
    press, world = running.press, running.assembly.world
    used = connection_services(settings, stores, press.audit, press.clock)
    platform = stores.items(settings.platform_table)
    mailboxes = DynamoMailboxes(platform)
    handing = Handing(DynamoFiles(platform, stores.s3, settings.bucket), press.clock)
    sorting = Sorting(world, running.firing, MailWaits(world, mailboxes), handing)
    poller = Poller(mailboxes, used.store, used.accounts.mailbox, sorting)
    return MailRounds(mailboxes, poller)
