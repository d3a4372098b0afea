"""Secrets in Secrets Manager, under the deployment's prefix and the mandate's id.

Named `<prefix>/<mandate>/<instance>/connections/<id>`: the role `tenant-data` lets a session reach
what begins with its own mandate.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from stellwerk.aws.errors import code_of, translated
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import MandateId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.model import ConnectionId

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

_MISSING = "ResourceNotFoundException"


class ManagedSecrets:
    """Implements `toolboxes.ports.Secrets`. Requests: 1 each, 2 for a new one."""

    def __init__(self, client: Callable[[MandateId], SecretsManagerClient], prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    def get(self, scope: Scope, connection: ConnectionId) -> JsonObject:
        """Return the secret of a connection; raises NotFound, which names it and shows nothing."""
        try:
            with translated():
                answer = self._client(scope.mandate).get_secret_value(
                    SecretId=self._name(scope, connection)
                )
        except NotFound:
            raise NotFound(
                f"the secret of connection {connection} is gone", remedy="Hand it in again."
            ) from None
        found: JsonObject = json.loads(answer["SecretString"])
        return found

    def put(self, scope: Scope, connection: ConnectionId, secret: JsonObject) -> None:
        """Keep it in place of the one before."""
        name, text = self._name(scope, connection), json.dumps(secret)
        client = self._client(scope.mandate)
        with translated():
            try:
                client.put_secret_value(SecretId=name, SecretString=text)
            except ClientError as error:
                if code_of(error) != _MISSING:
                    raise
                client.create_secret(Name=name, SecretString=text)

    def remove(self, scope: Scope, connection: ConnectionId) -> None:
        """Forget it at once; nothing if it is gone."""
        with translated():
            try:
                self._client(scope.mandate).delete_secret(
                    SecretId=self._name(scope, connection), ForceDeleteWithoutRecovery=True
                )
            except ClientError as error:
                if code_of(error) != _MISSING:
                    raise

    def _name(self, scope: Scope, connection: ConnectionId) -> str:
        return f"{self._prefix}/{scope.mandate}/{scope.instance}/connections/{connection}"
