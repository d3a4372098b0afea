"""Fails where a tracked file holds what has no place in the repository.

Registry hosts and local paths belong to one machine; pragmas hide what is not tested.
Patterns are written so that they do not find themselves.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_RULES = {
    "names a package registry": re.compile(
        r"\bpypi\.\w+|\b(?:registry|files)\.[\w-]+\.(?:org|com|io)\b|\bartifactor[y]\b|/simpl[e]/"
        r'|"resolve[d]":|--(?:extra-)?index-url|--find-link[s]'
    ),
    "holds a path of one machine": re.compile(r"(?<![\w.])/(?:work|root|home/\w+)/"),
    "leaves code out of the coverage": re.compile(r"pragma: n[o] (?:cover|branch)"),
    "silences a checker wholesale": re.compile(r"#\s*(?:type: ignore|noqa)\s*(?:$|#)"),
}


def faults(path: Path) -> Iterator[str]:
    """Yield a line for every place of a file that breaks a rule; nothing for binary files."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return
    for number, line in enumerate(lines, 1):
        for rule, pattern in _RULES.items():
            if pattern.search(line):
                yield f"{path}:{number}: {rule}"


def tracked() -> list[Path]:
    """Return the files that git tracks and that are there."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True)
    paths = (Path(name) for name in listed.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


def main() -> int:
    """Print the faults of all tracked files; return 1 if there are any."""
    found = [fault for path in tracked() for fault in faults(path)]
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
