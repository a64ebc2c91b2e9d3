#!/usr/bin/env bash
# Runs clang-tidy on the product's sources with the checks allowed in .clang-tidy. Uses a unity build's files, many of a
# directory at once, because most of the code read is headers.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake --preset release -B build/tidy -DIMGPIPE_TESTS=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  >/dev/null
sed -i 's/ -fno-tree-loop-distribute-patterns//' build/tidy/compile_commands.json  # GCC's; an error in clang
# Leaves out stb_codec.cpp, whose findings are in stb's headers, and files with CUDA's headers, because clang does not
# know the newest toolkit. Highway's loops are checked for one instruction set, as the text is the same for each, and
# without the static analyzer: it takes three quarters of the time for them, and they allocate nothing. Longest first.
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
