"""Who there is and who may do what: mandates, roles and members, on one table."""

from __future__ import annotations

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.directory_mandates import DynamoMandates
from stellwerk.aws.directory_members import DynamoMembers
from stellwerk.aws.directory_roles import DynamoRoles
from stellwerk.aws.items import Items
from stellwerk.tenancy.ports import Directory


def directory(items: Items, bodies: Bodies) -> Directory:
    """Return the directory on the table `platform`."""
    return Directory(
        DynamoMandates(items, bodies), DynamoRoles(items, bodies), DynamoMembers(items, bodies)
    )
