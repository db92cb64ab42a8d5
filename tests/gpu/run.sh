#!/bin/sh
# Tests dlkprof on a GPU machine: run.sh INSTALL_DIR OUT_DIR [part...] (gpu_tests.py says more).
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 exec python3 "$here/gpu_tests.py" "$@"
