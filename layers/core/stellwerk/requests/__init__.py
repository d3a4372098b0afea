"""Requests to the API as such: how many a principal makes, and those that are sent twice.

1. `limits`: each principal has so many requests a minute.
2. `repeats`: a request with an idempotency key happens once; repeating it gets the same answer.
"""
