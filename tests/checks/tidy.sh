#!/usr/bin/env bash
# clang-tidy over the product's own sources, with the allow-list of .clang-tidy.
#   tidy.sh BUILD_FOLDER     (a folder with compile_commands.json)
set -euo pipefail
cd "$(dirname "$0")/../.."
# stb's headers expand inside stb_codec.cpp: what is found there is not ours to mend. What includes CUDA's headers is
# left out: clang does not know the toolkit's newest. Loops in Highway are read for one instruction set: they are the
# same text for each.
git ls-files -co --exclude-standard 'app/*.cpp' 'pipeline/*.cpp' 'kernels/*.cpp' 'images/*.cpp' |
  grep -vE '^images/codecs/stb/stb_codec\.cpp$|^pipeline/cuda/|_cuda\.cpp$' |
  xargs -P "$(nproc)" -n 3 clang-tidy --quiet -extra-arg=-Wno-unknown-warning-option \
    -extra-arg=-DHWY_COMPILE_ONLY_STATIC -p "$1" \
    2> >(grep -vE '^[0-9]+ warnings' >&2 || true)
echo "clang-tidy: clean"
