#!/usr/bin/env bash
# Two builds of imgpipe give the same files and say the same: what a change of the inside must not change.
#
#   tests/peers/identity.sh [--quick] [--only N] OLD NEW [DEVICES]
#
# DEVICES: such as reference,cpu,cuda (default: reference,cpu); OLD must have them. Compares exit codes, all files that
# are written, byte for byte, and what stdout, stderr and the reports say, but for what is measured, on some 330
# combinations of stages, options, formats and devices, with synthetic images and, where IMGPIPE_CORPUS is set, real and
# broken files. What differs on purpose is a rule of identity_verdict.py, with its reason. --quick: a part of it.
# --only N: run N alone, whose files stay. The runs are the same each time. Needs Python 3, two processors, and about
# 5 minutes. Exit 0: all identical; 1: a difference; 2: nothing was compared.
set -euo pipefail
exec python3 "$(dirname "$0")/identity.py" "$@"
