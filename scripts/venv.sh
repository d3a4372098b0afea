#!/bin/sh
# Make the virtual environment DIR hold exactly what REQUIREMENTS lists: venv.sh DIR REQUIREMENTS
# Takes the newest Python from 3.13 to 3.11 that works; installs Debian's packages where one lacks.
set -eu
dir=$1
requirements=$2
export UV_PYTHON_DOWNLOADS=never

usable() { # prints the first Python of our versions that runs, and can do what $1 imports
    for candidate in python3.13 python3.12 python3.11 python3; do
        if "$candidate" -c "import sys, $1; sys.exit(not (3, 11) <= sys.version_info < (3, 14))" \
            >/dev/null 2>&1; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

install() { # with apt, as root or with sudo
    if ! command -v apt-get >/dev/null; then
        return 1
    elif [ "$(id -u)" = 0 ]; then
        apt-get update -qq && apt-get install -y -qq "$@"
    elif command -v sudo >/dev/null; then
        sudo apt-get update -qq && sudo apt-get install -y -qq "$@"
    else
        return 1
    fi
}

if ! python=$(usable venv,ensurepip); then
    if bare=$(usable sys); then
        packages="$("$bare" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
    else
        packages="python3 python3-venv"
    fi
    # shellcheck disable=SC2086 # two words are two packages
    install $packages >&2 || true
    if ! python=$(usable venv,ensurepip); then
        echo "Stellwerk needs Python 3.11, 3.12 or 3.13 with venv. Missing: $packages." >&2
        echo "Install it (Debian, as root: apt-get install $packages), then call make again." >&2
        exit 1
    fi
fi

if ! "$dir/bin/python" -c "import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))" 2>/dev/null; then
    rm -rf "$dir"
    "$python" -m venv "$dir"
fi
"$dir/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
    -r "$(dirname "$0")/../requirements/uv.txt"
"$dir/bin/uv" pip sync --quiet --python "$dir/bin/python" --require-hashes "$requirements"
