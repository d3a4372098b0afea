"""The command line `stellwerk`: the product's own services, on a local cloud.

1. `main` puts the commands together; each group of commands is a module: `graphs`, `publishing`,
   `runs`, `tasks`, `types`, `cloud`.
2. `arguments` reads what was typed, `connection` finds the running local cloud or starts one.
3. `views` are the records as people look at them; `rendering` draws them, `output` writes them:
   for people, or with --json for machines. `watching` follows a run.
"""
