"""The watch over secrets: none of those that tests seed or make may show anywhere.

1. `vault` knows the secrets: those that tests make with `seeded`, machines' secrets, and tokens.
2. `plugin` watches a whole test run: log records, what is captured, errors, audit records, answers
   over HTTP, what commands write. A test in which a secret shows has failed.
"""
