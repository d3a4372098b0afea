"""Declares the administration of mandates."""

from __future__ import annotations

from stellwerk.features.declaring import operations, pages
from stellwerk.tenancy.features import Feature
from stellwerk.tenancy.model import Text
from stellwerk.tenancy.scope import ADMINISTRATION

FEATURE = Feature(
    code=ADMINISTRATION,
    label=Text(de="Verwaltung", en="Administration"),
    icon="building-cog",
    tables=("mandates", "members", "roles", "instances", "clients", "audit"),
    ui=pages(
        ADMINISTRATION,
        overview=("Übersicht", "Overview"),
        mandates=("Mandanten", "Mandates"),
        members=("Personen", "People"),
        roles=("Rollen", "Roles"),
        explain=("Rechte erklären", "Explain access"),
        instances=("Instanzen", "Instances"),
        clients=("Maschinen", "Machines"),
        audit=("Protokoll", "Audit"),
    ),
    resources=operations(
        ADMINISTRATION,
        export=("Protokoll exportieren", "Export the audit"),
        verify=("Protokoll prüfen", "Verify the audit"),
    ),
    instantiable=False,
)
