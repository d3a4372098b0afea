"""Trials: a version that is not published runs as it is now, whatever becomes of it meanwhile.

A trial is kept beside the version under a hash of its graph, with machines of its own, which go
when no run has needed them for a while. Testing the same graph again uses them again.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.records import Stored
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.scope import Scope, require
from stellwerk.workflows.faults import InvalidGraph, errors
from stellwerk.workflows.foundry import Foundry
from stellwerk.workflows.model import Version, Workflow
from stellwerk.workflows.press import VERSIONS, Room

LIFE = timedelta(days=7)
"""How long a trial's machines are kept after the last test that began on them."""
_RENEWAL = timedelta(days=6)
_SHORT = 16
"""Characters of the hash: it travels with every step of the run."""


class Trying(Room):
    """Makes drafts ready to run."""

    def prepare(self, scope: Scope, workflow: Workflow, draft: Version) -> Version:
        """Return the trial of a draft as it stands, with machines.

        Raises InvalidGraph with all faults of a draft that cannot run.
        """
        require(scope, VERSIONS, Verb.READ, workflow.created_by)
        trial = _trial_of(draft.graph)
        known = self._known(scope, draft, trial)
        if known is not None and known.machines:
            return self._renewed(scope, known)
        graph = self._graph(scope, draft)
        faults = self._faults(scope, graph, itself=workflow.slug)
        if errors(faults):
            raise InvalidGraph(faults, graph=graph)
        begun = known or draft.model_copy(update={"trial": trial, "revision": 0, "rebuilt": 0})
        edition = f"v{draft.number}-test"
        made = Foundry(self._press).compiled(scope, workflow, begun, edition=edition)
        return self._kept_trial(scope, made)

    def _known(self, scope: Scope, draft: Version, trial: str) -> Version | None:
        try:
            return self._versions.get(scope, draft.workflow, draft.number, trial)
        except NotFound:
            return None

    def _renewed(self, scope: Scope, trial: Version) -> Version:
        late = self._press.clock.now() + _RENEWAL
        if trial.retiring is not None and trial.retiring > late:
            return trial
        return self._kept_trial(scope, trial)

    def _kept_trial(self, scope: Scope, trial: Version) -> Version:
        """Write a trial; where another test began at the same moment, its trial is the same."""
        kept = trial.model_copy(update={"retiring": self._press.clock.now() + LIFE})
        try:
            return self._versions.save(scope, kept)
        except Conflict:
            return self._versions.get(scope, trial.workflow, trial.number, trial.trial)


def _trial_of(graph: Stored) -> str:
    if graph.ref is not None:
        return graph.ref.sha256[:_SHORT]
    return hashlib.sha256((graph.text or "").encode()).hexdigest()[:_SHORT]
