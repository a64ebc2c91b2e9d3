#!/usr/bin/env bash
# Checks that every header compiles alone, if no .cpp includes it first (those compile alone in the release build).
set -euo pipefail
cd "$(dirname "$0")/../.."
check() {
  # Outside a real build, Highway treats single numbers as vectors unless a target is named.
  local target=
  [[ $1 == *-inl.h && $(uname -m) == x86_64 ]] && target=-mssse3
  printf '#include "%s"\n' "$1" |
    g++ -std=c++20 -Wall -Wextra -Werror $target -fsyntax-only -I. $CUDA_FLAGS -x c++ - ||
    { echo "headers: $1 does not stand alone" >&2; exit 255; }
}
export -f check
# Headers that need CUDA's are checked only if nvcc is installed.
headers=$(git ls-files -co --exclude-standard '*.h')
flags=()
if nvcc=$(command -v nvcc); then
  flags=(-isystem "$(dirname "$(dirname "$(readlink -f "$nvcc")")")/include")
else
  headers=$(grep -LE '#include (<cuda|<nvtx|"pipeline/cuda/(cuda_api|device_image).h")' $headers)
  echo "headers: nvcc is not installed, those that include CUDA's are skipped"
fi
# Those of the Python package are compiled with it.
headers=$(grep -LE '#include (<nanobind|"app/python/core/)' $headers)
export CUDA_FLAGS="${flags[*]-}"
# Files that only one kind of build compiles prove nothing about the other.
mapfile -t sources < <(git ls-files -co --exclude-standard '*.cpp' ':!*no_cuda.cpp' ':!pipeline/cuda/*.cpp')
first=$(awk 'FNR == 1 { found = 0 } !found && /^#include/ { found = 1; print $2 }' "${sources[@]}" | tr -d '"')
all=$(wc -w <<<"$headers")
headers=$(grep -vxF "$first" <<<"$headers")
printf '%s\n' $headers | xargs -P "$(nproc)" -I{} bash -c 'check {}'
echo "headers: $(wc -w <<<"$headers") of $all compile alone, the others are a source's first"
