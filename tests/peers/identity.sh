#!/usr/bin/env bash
# Checks that two builds of imgpipe produce the same files and messages: refactorings must not change them.
#
#   tests/peers/identity.sh [--quick] [--only N] OLD NEW [DEVICES]
#
# DEVICES: for example reference,cpu,cuda (default: reference,cpu); OLD must have them. Compares exit codes, all written
# files byte for byte, and stdout, stderr and reports except measurements, for about 330 combinations of stages,
# options, formats and devices, with synthetic images and, if IMGPIPE_CORPUS is set, real and broken files. Intended
# differences are rules of identity_verdict.py, with their reasons. --quick: a part of it. --only N: run N alone,
# keeping its files. The runs are the same each time. Needs Python 3, two processors, and about 5 minutes. Exit 0: all
# identical; 1: a difference; 2: nothing was compared.
set -euo pipefail
exec python3 "$(dirname "$0")/identity.py" "$@"
