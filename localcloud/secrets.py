"""Secrets Manager on moto, with every secret that a call has changed stored before it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from moto.secretsmanager.models import SecretsManagerBackend, secretsmanager_backends
from moto.secretsmanager.responses import SecretsManagerResponse

from localcloud.lambdas import ACCOUNT, REGION
from localcloud.patching import Repair, applied
from localcloud.storage import Storage

_CHANGES = ("create_secret", "put_secret_value", "delete_secret")


@contextmanager
def kept(storage: Storage) -> Iterator[None]:
    """Keep secrets in `storage` while the block runs."""
    with applied(
        [Repair(SecretsManagerResponse, name, _keeping(storage, name)) for name in _CHANGES]
    ):
        yield


def load(storage: Storage) -> None:
    """Put the stored secrets back."""
    for name, text in storage.secrets():
        _backend().create_secret(
            name=name,
            secret_string=text,
            secret_binary=None,
            description=None,
            tags=None,
            kms_key_id=None,
            client_request_token=None,
            replica_regions=[],
            force_overwrite=False,
        )


def _backend() -> SecretsManagerBackend:
    return secretsmanager_backends[ACCOUNT][REGION]


def _keeping(storage: Storage, method: str) -> Callable[[SecretsManagerResponse], str]:
    change: Callable[[SecretsManagerResponse], str] = getattr(SecretsManagerResponse, method)

    def changing(self: SecretsManagerResponse) -> str:
        answer = change(self)
        name = str(self._get_param("Name") or self._get_param("SecretId"))
        if method == "delete_secret":
            storage.drop_secret(name)
        else:
            storage.keep_secret(name, str(self._get_param("SecretString")))
        return answer

    return changing
