"""The command line `stellwerk`: the product's own services, on a local cloud or at an API.

1. `main` puts the commands together; each group of commands is a module: `graphs`, `publishing`,
   `runs`, `tasks`, `types`, `audit`, `login`, `cloud`.
2. `arguments` reads what was typed, `connection` finds the running local cloud or starts one.
   `desk` says what commands need; the services are one, `remote_desk` is another over an API:
   `remote` speaks to that, `remote_signin`, `remote_issuer` and `remote_sessions` get and keep
   tokens, `remote_places` knows where whoever is signed in belongs.
3. `views` are the records as people look at them, `calls` the runs that a run has called.
   `watching` follows a run.
4. `rendering` and `parameters` draw all this as a `listing`, which fits any width; `output` writes
   it: for people, or with --json for machines.
"""
