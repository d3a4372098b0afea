"""The command line `stellwerk`: the product's own services, on a local cloud.

1. `main` puts the commands together; each group of commands is a module: `graphs`, `publishing`,
   `runs`, `tasks`, `types`, `cloud`.
2. `arguments` reads what was typed, `connection` finds the running local cloud or starts one.
3. `views` are the records as people look at them, `calls` the runs that a run has called.
   `watching` follows a run.
4. `rendering` and `parameters` draw all this as a `listing`, which fits any width; `output` writes
   it: for people, or with --json for machines.
"""
