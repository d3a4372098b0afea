"""What holds for all tests: no secret may show."""

pytest_plugins = ["tests.secrets.plugin"]
