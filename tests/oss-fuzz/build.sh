#!/bin/bash -eu
# Builds the fuzzers, or those named, with the compiler, the flags and the engine that OSS-Fuzz sets, into $OUT:
# programs, shared libraries and seeds.
#   SRC=... WORK=... OUT=... CC=... CXX=... CFLAGS=... CXXFLAGS=... LIB_FUZZING_ENGINE=... build.sh [TARGET...]
fuzzers=("$@")
[ $# -gt 0 ] || fuzzers=(archive decode exif html icc info jpeg_pair metadata options plan png_writer stream text tiff
                         webp)
source=$SRC/imgpipe
build=${WORK:-/tmp}/imgpipe

# The distribution's libraries use libstdc++, so libc++ cannot be used. The image that runs the fuzzers has none of
# them: they are copied. A RUNPATH would not apply to the libraries that they load in turn.
export CXXFLAGS=${CXXFLAGS//-stdlib=libc++/}
export LDFLAGS="${LDFLAGS:-} -Wl,-rpath,'\$ORIGIN/lib' -Wl,--disable-new-dtags"
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-DNDEBUG -DCMAKE_SKIP_RPATH=ON -DIMGPIPE_CUDA=OFF -DIMGPIPE_PYTHON=OFF \
  "-DIMGPIPE_SANITIZE=fuzzer-no-link,${SANITIZER:-address}" \
  -DIMGPIPE_TESTS=OFF -DIMGPIPE_FUZZ=ON "-DIMGPIPE_FUZZ_ENGINE=$LIB_FUZZING_ENGINE"
cmake --build "$build" --target "${fuzzers[@]/#/fuzz_}" tiff_seeds library_seeds

mkdir -p "$OUT/lib" "$build/seeds/decode" "$build/seeds/tiff"
"$build/tests/library_seeds" "$build/seeds/decode"
"$build/tests/tiff_seeds" "$build/seeds/tiff"
for name in "${fuzzers[@]}"; do
  cp "$build/tests/fuzz_$name" "$OUT/"
  for seeds in "$source/tests/fuzz/seeds/$name" "$build/seeds/$name"; do
    [ ! -d "$seeds" ] || (cd "$seeds" && zip -q "$OUT/fuzz_${name}_seed_corpus.zip" ./*)
  done
  printf '[libfuzzer]\nmax_len = 8192\nclose_fd_mask = 3\n' >"$OUT/fuzz_$name.options"
done

# Libraries that the programs load when they first need them are not in the output of ldd.
late=$(ldconfig -p |
  sed -nE 's/.*=> (.*\/lib(archive|avif|deflate|heif|jxl|lcms2|png16|tiff|webp|z|zstd)\.so\.[0-9.]*)$/\1/p')
# shellcheck disable=SC2086
ldd "$OUT"/fuzz_* $late 2>/dev/null | sed -n 's/.*=> \(\/.*\) (0x.*/\1/p' | sort -u |
  grep -vE '/(libc|libm|libpthread|libdl|librt|libresolv)\.so' | xargs -I{} cp -n {} "$OUT/lib/"
# shellcheck disable=SC2086
cp -n $late "$OUT/lib/"
