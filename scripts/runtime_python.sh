#!/bin/sh
# Print the path of a Python 3.13, that of the Lambda runtime; exit with 1 where there is none.
for python in python3.13 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13.*/bin/python \
    "$HOME"/.local/share/uv/python/cpython-3.13*/bin/python; do
    if "$python" -c "import sys; sys.exit(sys.version_info[:2] != (3, 13))" >/dev/null 2>&1; then
        echo "$python"
        exit 0
    fi
done
exit 1
