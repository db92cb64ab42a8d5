#!/bin/sh
# What profiling costs, beside ncu: perf.sh INSTALL_DIR OUT_DIR, which is the parts of run.sh that measure time.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
exec "$here/run.sh" "$1" "$2" cost quick speed overhead timeline
