"""The composition root: builds the services; it alone knows adapters and domains together.

1. `clients`: the doors to AWS, and the ways through them to tables and bucket.
2. `running`: the services of a process that runs workflows. It needs neither checks nor compiler,
   whose imports cost more than all else; whoever publishes hands them in:
   `build(settings, compiler=GraphCompiler())`.
3. `serving`: the services of the API besides. Nobody else imports it.
"""

from stellwerk.bootstrap.clients import PATIENCE, Clients, SettingsClients
from stellwerk.bootstrap.running import NoCompiler, Provider, Services, build, services

__all__ = [
    "PATIENCE",
    "Clients",
    "NoCompiler",
    "Provider",
    "Services",
    "SettingsClients",
    "build",
    "services",
]
