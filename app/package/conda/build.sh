#!/usr/bin/env bash
# Called by conda build in the directory of the sources (meta.yaml).
set -euo pipefail
(cd libmd && ./configure --prefix="$PWD/../md" --disable-shared --with-pic && make -j"$CPU_COUNT" install)
# shellcheck disable=SC2086
cmake -S imgpipe -B build -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DIMGPIPE_TESTS=OFF -DIMGPIPE_PYTHON=OFF -DIMGPIPE_CUDA=OFF -DIMGPIPE_CODECS=OFF \
  -DSTB_INCLUDE_DIR="$PWD/include" -DMD_INCLUDE_DIR="$PWD/md/include" -DMD_LIBRARY="$PWD/md/lib/libmd.a"
cmake --build build -j"$CPU_COUNT"
cmake --install build
