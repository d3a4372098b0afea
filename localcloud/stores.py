"""Tables and the bucket of a deployment, as its settings name them."""

from __future__ import annotations

from localcloud.clients import BotoClients
from localcloud.lambdas import REGION
from stellwerk.aws.tables import PLATFORM, RUNS, creation
from stellwerk.config import Settings


def create_resources(clients: BotoClients, settings: Settings) -> None:
    """Create what the template creates on AWS and what is not there yet."""
    for table, name in ((PLATFORM, settings.platform_table), (RUNS, settings.runs_table)):
        clients.dynamodb.create_table(**creation(table, name))
        clients.dynamodb.update_time_to_live(
            TableName=name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": table.ttl},
        )
    clients.s3.create_bucket(
        Bucket=settings.bucket, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
