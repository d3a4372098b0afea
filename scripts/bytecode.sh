#!/bin/sh
# Compile the Python files below DIR for the Lambda runtime, 3.13: bytecode.sh DIR
# Bytecode halves the time of a cold start. Without a Python 3.13 nothing is compiled, and we say so.
set -eu
dir=$1
if python=$("$(dirname "$0")/runtime_python.sh"); then
    # unchecked: files in a layer carry the time of unpacking, which must not count
    "$python" -m compileall -q -j 0 --invalidation-mode unchecked-hash "$dir"
else
    echo "No python3.13 here: $dir is built without bytecode, so cold starts take twice as long." >&2
fi
