#!/usr/bin/env bash
# Builds the libFuzzer targets with clang and runs each for a short while; a crash fails.
#   fuzz.sh SECONDS
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=$1
empty_target='extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }'
if ! command -v clang++ >/dev/null || ! printf '%s' "$empty_target" |
    clang++ -fsanitize=fuzzer,address -x c++ - -o /dev/null 2>/dev/null; then
  echo "SKIPPED: the fuzzers; clang with libFuzzer is not installed"
  exit 0
fi
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
for name in decode exif jpeg_pair metadata options plan tiff webp; do
  corpus=build/fuzz/corpus_$name
  mkdir -p "$corpus"
  seeds=()
  [ -d "tests/fuzz/seeds/$name" ] && seeds=("tests/fuzz/seeds/$name")
  if [ "$name" = decode ]; then
    # libFuzzer reads a seed folder flat, and large seeds slow it down.
    find "${IMGPIPE_CORPUS:-/nonexistent}" -type f -size -8k -exec cp -n {} "$corpus" \; 2>/dev/null || true
  fi
  [ "$name" = tiff ] && build/fuzz/tests/tiff_seeds "$corpus"
  echo "fuzz_$name: $seconds s"
  (cd build/fuzz && "./tests/fuzz_$name" -max_total_time="$seconds" -max_len=8192 -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 "corpus_$name" ${seeds[@]+"${seeds[@]/#/../../}"} 2>&1) |
    grep -E 'ERROR|SUMMARY|Test unit|stat::number_of_executed|DONE' ||
    { echo "fuzz_$name failed" >&2; exit 1; }
  ! compgen -G 'build/fuzz/crash-*' >/dev/null || { echo "fuzz_$name crashed: see build/fuzz" >&2; exit 1; }
done
echo "fuzzers: no crash"
