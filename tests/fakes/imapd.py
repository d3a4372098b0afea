"""pymap, a real IMAP server, with a mailbox in memory: `python -m tests.fakes.imapd PORT USER`.

Its password comes in on standard input. It is hashed in few rounds, which is all that differs from
the command `pymap`: half a million of them for each sign-in would make tests slow.
"""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import AsyncExitStack

from pymap.backend.dict import DictBackend
from pymap.imap import IMAPService
from pysasl.hashing import BuiltinHash


async def serve(port: str, user: str, password: str) -> None:
    """Serve for ever."""
    parser = ArgumentParser()
    DictBackend.add_subparser("dict", parser.add_subparsers())
    IMAPService.add_arguments(parser)
    parser.set_defaults(debug=False, passlib_cfg=None, skip_services=[])
    told = ["--host", "127.0.0.1", "--port", port, "--no-tls"]
    given = ["dict", "--demo-user", user, "--demo-password", password]
    arguments = parser.parse_args([*told, *given])
    backend, config = await DictBackend.init(arguments, hash_context=BuiltinHash(rounds=1))
    config.apply_context()
    async with AsyncExitStack() as stack:
        await backend.start(stack)
        await IMAPService(backend, config).start(stack)
        await asyncio.Event().wait()


def main(arguments: Sequence[str]) -> None:
    """Serve as the command line says."""
    port, user = arguments
    asyncio.run(serve(port, user, sys.stdin.readline().strip()))


if __name__ == "__main__":
    main(sys.argv[1:])
