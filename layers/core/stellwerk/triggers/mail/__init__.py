"""Mail starts runs and wakes nodes that wait for it: mailboxes are polled while somebody watches.

1. `model`: a mailbox that is watched, who watches it, and for which mail.
2. `part`: what triggers of published workflows watch, by difference.
3. `waits`: nodes that wait for a mail.
4. `handing`: a mail as it is handed over, its attachments kept as files.
5. `polling`: what is new in a mailbox goes to all who watch for it.
6. `rounds`: all watched mailboxes, each for itself.
"""
