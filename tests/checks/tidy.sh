#!/usr/bin/env bash
# clang-tidy over the product's own sources, with the allow-list of .clang-tidy. They are read as a unity build has
# them, many of a directory at once: headers are most of what is read.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake --preset release -B build/tidy -DIMGPIPE_TESTS=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  >/dev/null
# stb's headers expand inside stb_codec.cpp: what is found there is not ours to mend. What includes CUDA's headers is
# left out: clang does not know the toolkit's newest. Loops in Highway are read for one instruction set, because they
# are the same text for each, and without the static analyzer: it follows every way through their loops, in three
# quarters of the time, and they allocate nothing. The longest first.
tidy() {
  local checks=
  ! grep -q 'foreach_target\.h' "$1" || checks=-clang-analyzer-*
  clang-tidy --quiet --checks="$checks" -extra-arg=-Wno-unknown-warning-option \
    -extra-arg=-DHWY_COMPILE_ONLY_STATIC -p build/tidy "$1"
}
export -f tidy
sed -n 's/^  "file": "\(.*\)",\{0,1\}$/\1/p' build/tidy/compile_commands.json |
  grep -E '\.(cpp|cxx)$' | grep -vE '/stb_codec\.cpp$|/generated/|_cuda(_[0-9]+_cxx)?\.(cpp|cxx)$|/python/' |
  xargs ls -S | xargs -P "$(nproc)" -I{} bash -c 'tidy {}' \
    2> >(grep -vE '^[0-9]+ warnings' >&2 || true)
echo "clang-tidy: clean"
