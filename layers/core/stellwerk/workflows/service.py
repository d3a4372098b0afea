"""Workflows and their versions, as people and programs use them.

Its rooms, in the order in which a workflow meets them: `drafting` begins and edits, `publishing`
moves versions from state to state, `trying` lets drafts run, `settings` say how it behaves and
whose it is, `sharing` and `carrying` take it elsewhere, `browsing` finds and reads all of it. Each
method checks what the scope may do, and writes into the audit what it changes.
"""

from __future__ import annotations

from stellwerk.workflows.browsing import Browsing
from stellwerk.workflows.carrying import Carrying
from stellwerk.workflows.publishing import Publishing
from stellwerk.workflows.settings import Settings
from stellwerk.workflows.sharing import Sharing
from stellwerk.workflows.trying import Trying


class WorkflowService(Publishing, Settings, Sharing, Carrying, Trying, Browsing):
    """All that can be done with workflows."""
