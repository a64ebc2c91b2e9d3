#!/usr/bin/env bash
# Every header compiles alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
check() { printf '#include "%s"\n' "$1" | g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I. -x c++ - || { echo "headers: $1 does not stand alone" >&2; exit 255; }; }
export -f check
headers=$(git ls-files -co --exclude-standard '*.h')
printf '%s\n' $headers | xargs -P "$(nproc)" -I{} bash -c 'check {}'
echo "headers: $(wc -w <<<"$headers") compile alone"
