#!/bin/sh
# Compile the Python files below DIR for the Lambda runtime, 3.13: bytecode.sh DIR
# Bytecode halves the time of a cold start. Without a Python 3.13 nothing is compiled, and we say so.
set -eu
dir=$1
for python in python3.13 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13.*/bin/python \
    "$HOME"/.local/share/uv/python/cpython-3.13*/bin/python; do
    if "$python" -c "import sys; sys.exit(sys.version_info[:2] != (3, 13))" >/dev/null 2>&1; then
        # unchecked: files in a layer carry the time of unpacking, which must not count
        "$python" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$dir"
        exit 0
    fi
done
echo "No python3.13 here: $dir is built without bytecode, so cold starts take twice as long." >&2
