"""Tables and the bucket of a deployment, as its settings name them, with what was stored."""

from __future__ import annotations

import time
from collections.abc import Mapping

from localcloud import objects
from localcloud.direct import DirectClients
from localcloud.dynamodb.table import Table, Tables
from localcloud.dynamodb.values import Value
from localcloud.storage import Storage
from stellwerk.aws.tables import AUDIT, PLATFORM, RUNS, TTL_ATTRIBUTE, creation
from stellwerk.config import Settings


def create_resources(clients: DirectClients, settings: Settings) -> None:
    """Create what the template creates on AWS."""
    names = (settings.platform_table, settings.runs_table, settings.audit_table)
    for table, name in zip((PLATFORM, RUNS, AUDIT), names, strict=True):
        clients.dynamodb.create_table(**creation(table, name))
        if table.ttl is not None:
            clients.dynamodb.update_time_to_live(
                TableName=name,
                TimeToLiveSpecification={"Enabled": True, "AttributeName": table.ttl},
            )
    clients.s3.create_bucket(
        Bucket=settings.bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )


def load(storage: Storage, tables: Tables) -> None:
    """Put back what was stored; an item whose time is over is left behind, as by TTL."""
    now = time.time()
    for name, item in storage.items():
        table = tables.get(name)
        if not _expired(item, now):
            _put(table, item)
    objects.load(storage)


def _put(table: Table, item: dict[str, Value]) -> None:
    table.put(table.keys.place(item), item)


def _expired(item: Mapping[str, Value], now: float) -> bool:
    expires = item.get(TTL_ATTRIBUTE, {}).get("N")
    return expires is not None and float(expires) < now
