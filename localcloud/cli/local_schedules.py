"""Schedules of a local cloud, in the words of the API: imported by the command that shows them."""

from __future__ import annotations

from dataclasses import dataclass

from api.models.schedules import SchedulePage, ScheduleReport, WorkflowSchedules
from stellwerk.bootstrap import Services
from stellwerk.bootstrap.scheduling import ScheduleServices, schedule_services
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope


@dataclass(frozen=True)
class LocalClocks:
    """Those that a scope may see."""

    services: ScheduleServices
    scope: Scope

    def of_workflow(self, workflow: str) -> JsonObject:
        """Return those of a workflow, with its last times."""
        found = self.services.desk.of_workflow(self.scope, workflow)
        return WorkflowSchedules.of(found).model_dump(mode="json")

    def of_instance(self, cursor: str | None, limit: int) -> JsonObject:
        """Return a page of all, with the last times that were late or missed."""
        found = self.services.desk.of_instance(self.scope, cursor=cursor, limit=limit)
        return SchedulePage.of(found).model_dump(mode="json")

    def reconcile(self) -> JsonObject:
        """Reconcile all instances of the mandate: what none of them wants is removed."""
        rounds, mandate = self.services.rounds, self.scope.mandate
        scopes = [each for each in rounds.places.everywhere() if each.mandate == mandate]
        return ScheduleReport.of(rounds.drift.repair(scopes)).model_dump(mode="json")


def clocks(services: Services, scope: Scope) -> LocalClocks:
    """Return the schedules that the scope may see."""
    return LocalClocks(schedule_services(services), scope)
