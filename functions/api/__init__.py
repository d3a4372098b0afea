"""The HTTP API: a request becomes one call of a service, and its result or error an answer.

1. `handler` (on AWS) or a server (locally) hands a request to the application that `app` makes.
2. `edge` looks at bytes and headers: request id, size of the body, what the client has already.
3. `caller` finds out who asks, where, and whether that is too often: a `Scope`.
4. A router of `routers` reads the request into a model of `models`, calls one service, and renders
   what that returns; `conditions` and `repeats` hold edits and creations to their headers.
5. `errors` turns everything that is raised into a problem (RFC 9457).
"""
