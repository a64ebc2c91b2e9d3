#!/usr/bin/env bash
# Builds the libFuzzer targets with clang and runs each for a short while; a crash fails.
#   fuzz.sh SECONDS
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=$1
fuzzers=(archive decode exif icc info jpeg_pair metadata options plan stream tiff webp)
empty_target='extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }'
if ! command -v clang++ >/dev/null || ! printf '%s' "$empty_target" |
    clang++ -fsanitize=fuzzer,address -x c++ - -o /dev/null 2>/dev/null; then
  echo "SKIPPED: the fuzzers; clang with libFuzzer is not installed"
  exit 0
fi
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${fuzzers[@]/#/fuzz_}" tiff_seeds library_seeds

# Runs one fuzzer, with its output in build/fuzz/output/NAME.
fuzz() {
  local name=$1 corpus=build/fuzz/corpus_$1 seeds=()
  mkdir -p "$corpus"
  [ -d "tests/fuzz/seeds/$name" ] && seeds=("tests/fuzz/seeds/$name")
  if [[ "$name" =~ ^(decode|info)$ ]]; then
    # libFuzzer does not search seed directories recursively, and large seeds slow it down.
    find "${IMGPIPE_CORPUS:-/nonexistent}" -type f -size -8k -exec cp -n {} "$corpus" \; 2>/dev/null || true
  fi
  [[ "$name" =~ ^(decode|info)$ ]] && build/fuzz/tests/library_seeds "$corpus"
  [[ "$name" =~ ^(info|tiff)$ ]] && build/fuzz/tests/tiff_seeds "$corpus"
  (cd build/fuzz && "./tests/fuzz_$name" -max_total_time="$seconds" -max_len=8192 -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="crash-$name-" "corpus_$name" \
    ${seeds[@]+"${seeds[@]/#/../../}"} >"output/$name" 2>&1)
}
export -f fuzz
export seconds
rm -rf build/fuzz/output
mkdir build/fuzz/output
# One fuzzer per processor at a time.
failed=0
printf '%s\n' "${fuzzers[@]}" |
  xargs -P "$(nproc)" -I{} bash -c 'set -euo pipefail; fuzz {}' || failed=1
for output in build/fuzz/output/*; do
  echo "fuzz_$(basename "$output"): $seconds s"
  grep -E 'ERROR|SUMMARY|Test unit|stat::number_of_executed|DONE' "$output" || { tail -5 "$output" >&2; failed=1; }
done
((failed == 0)) || { echo "a fuzzer failed: see build/fuzz" >&2; exit 1; }
echo "fuzzers: no crash"
