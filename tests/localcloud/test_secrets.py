"""Secrets stay when the local cloud ends, and go when they are deleted."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from localcloud.cloud import LocalCloud
from localcloud.functions import Given
from localcloud.storage import FILE
from tests.secrets.vault import seeded


def test_secrets_outlive_the_cloud(tmp_path: Path) -> None:
    with LocalCloud(tmp_path, functions=Given({})) as cloud:
        client = cloud.clients.secretsmanager
        for name in ("stellwerk/m/a", "stellwerk/m/b"):
            client.create_secret(Name=name, SecretString=seeded("first"))
        client.put_secret_value(SecretId="stellwerk/m/a", SecretString=seeded("second"))
        client.delete_secret(SecretId="stellwerk/m/b", ForceDeleteWithoutRecovery=True)
    with LocalCloud(tmp_path, functions=Given({})) as cloud:
        client = cloud.clients.secretsmanager
        kept = client.get_secret_value(SecretId="stellwerk/m/a")["SecretString"]
        assert kept == seeded("second")
        with pytest.raises(ClientError, match="ResourceNotFoundException"):
            client.get_secret_value(SecretId="stellwerk/m/b")
    with LocalCloud(functions=Given({})) as cloud, pytest.raises(ClientError):
        cloud.clients.secretsmanager.get_secret_value(SecretId="stellwerk/m/a")


def test_the_file_with_the_secrets_is_its_owners_alone(tmp_path: Path) -> None:
    with LocalCloud(tmp_path, functions=Given({})):
        assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) & 0o077 == 0
