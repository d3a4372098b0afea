"""Tells people what their schedules did not do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import NotFound, StellwerkError
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.tenancy.notices import Notice, Notices
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.schedules.model import Slot
from stellwerk.workflows.ports import Versions

_NAMED = 5
"""Missed times that a message names."""


@dataclass(frozen=True)
class Teller:
    """Tells whoever the workflow names, else its owner. `notices` None: nobody."""

    versions: Versions
    notices: Notices | None = None

    def missed(self, scope: Scope, slots: Sequence[Slot]) -> None:
        """Tell that nothing fired these slots of one workflow, of which there is at least one."""
        times = ", ".join(instant(slot.at) for slot in slots[:_NAMED])
        more = f" and {len(slots) - _NAMED} more" if len(slots) > _NAMED else ""
        text = (
            f"Nothing started the workflow at the times {times}{more}. What it does about that "
            "is `catch_up` of its trigger."
        )
        node = slots[0].node
        self._tell(scope, "schedule.missed", slots[0].workflow, node, "has missed times", text)

    def refused(
        self, scope: Scope, workflow: WorkflowId, node: NodeKey, refusal: StellwerkError
    ) -> None:
        """Tell that a schedule could not start its run."""
        text = f"{refusal.message} {refusal.remedy}".strip()
        self._tell(scope, "schedule.refused", workflow, node, "was not started", text)

    def _tell(
        self, scope: Scope, kind: str, workflow: WorkflowId, node: NodeKey, what: str, text: str
    ) -> None:
        if self.notices is None:
            return
        try:
            found = self.versions.workflow(scope, workflow)
        except NotFound:
            return
        notice = Notice(
            kind=kind,
            to=found.notify or (f"user:{found.created_by}",),
            subject=f"The schedule of {found.title} {what}",
            text=text,
            group=f"{kind} {workflow}",
            link=f"/workflows/{workflow}/schedules",
            about={"workflow": workflow, "node": node},
        )
        self.notices.notify(scope, notice)
