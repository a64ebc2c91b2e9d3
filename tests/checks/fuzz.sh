#!/usr/bin/env bash
# Builds the libFuzzer targets with clang and runs each, or those named, for a time; a crash fails. Prints executions
# and coverage: basic blocks ("cov") and their features ("ft"), at the start and at the end.
#   fuzz.sh SECONDS [TARGET...]
#   fuzz.sh --hours N [TARGET...]
#   fuzz.sh --runs N [TARGET...]     executions instead of time
# decode_avif, decode_heic and decode_jxl run fuzz_decode on files of one format.
set -euo pipefail
cd "$(dirname "$0")/../.."
case ${1:-} in
  --hours) limit=-max_total_time=$(($2 * 3600)) && shift 2 ;;
  --runs) limit=-runs=$2 && shift 2 ;;
  [0-9]*) limit=-max_total_time=$1 && shift ;;
  *) sed -n 's/^#   //p' "$0" >&2 && exit 2 ;;
esac
fuzzers=("$@")
[ $# -gt 0 ] || fuzzers=(archive decode decode_avif decode_heic decode_jxl exif html icc info jpeg_pair metadata options
                         plan png_writer stream text tiff webp)
empty_target='extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }'
if ! command -v clang++ >/dev/null || ! printf '%s' "$empty_target" |
    clang++ -fsanitize=fuzzer,address -x c++ - -o /dev/null 2>/dev/null; then
  echo "SKIPPED: the fuzzers; clang with libFuzzer is not installed"
  exit 0
fi
cmake --preset fuzz >/dev/null
targets=("${fuzzers[@]/#/fuzz_}")
cmake --build --preset fuzz --target "${targets[@]/#fuzz_decode_*/fuzz_decode}" tiff_seeds library_seeds
# A third of the time of fuzz_decode went into collecting stacks and touching freed memory.
export ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=4:max_malloc_fill_size=0

# Runs one fuzzer, with its output in build/fuzz/output/NAME.
fuzz() {
  local name=$1 corpus=build/fuzz/corpus_$1 seeds=() max_len=8192 options=()
  mkdir -p "$corpus"
  [ -d "tests/fuzz/seeds/$name" ] && seeds=("tests/fuzz/seeds/$name")
  if [[ "$name" =~ ^(decode|info)$ ]]; then
    # libFuzzer does not search seed directories recursively, and large seeds slow it down.
    find "${IMGPIPE_CORPUS:-/nonexistent}" -type f -size -8k -exec cp -n {} "$corpus" \; 2>/dev/null || true
  fi
  [[ "$name" =~ ^(decode.*|info)$ ]] && build/fuzz/tests/library_seeds "$corpus"
  [[ "$name" =~ ^(info|tiff)$ ]] && build/fuzz/tests/tiff_seeds "$corpus"
  if [[ "$name" =~ ^decode_ ]]; then
    find "$corpus" -name '[1-4]*.*' ! -name "*.${name#decode_}" -delete
    max_len=2048
  fi
  # The libraries of images print notes about damaged files.
  [[ "$name" =~ ^decode ]] && options=(-close_fd_mask=3)
  (cd build/fuzz && "./tests/fuzz_${name/#decode_*/decode}" "$limit" -max_len="$max_len" -timeout=60 \
    -rss_limit_mb=2048 -print_final_stats=1 -reload=0 -artifact_prefix="crash-$name-" ${options[@]+"${options[@]}"} \
    "corpus_$name" ${seeds[@]+"${seeds[@]/#/../../}"} >"output/$name" 2>&1)
}
export -f fuzz
export limit
rm -rf build/fuzz/output
mkdir build/fuzz/output
# One fuzzer per processor at a time.
failed=0
printf '%s\n' "${fuzzers[@]}" |
  xargs -P "$(nproc)" -I{} bash -c 'set -euo pipefail; fuzz {}' || failed=1
for output in build/fuzz/output/*; do
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$output")
  start=$(sed -n 's/^#.*INITED \(cov: [0-9]* ft: [0-9]*\).*/\1/p' "$output" | tail -1)
  end=$(grep -o 'cov: [0-9]* ft: [0-9]* corp: [0-9]*' "$output" | tail -1)
  echo "fuzz_$(basename "$output"): ${executions:-0} executions, $start to $end"
  grep -E 'ERROR|SUMMARY|Test unit' "$output" || true
  [ -n "$executions" ] || { tail -5 "$output" >&2; failed=1; }
done
((failed == 0)) || { echo "a fuzzer failed: see build/fuzz" >&2; exit 1; }
echo "fuzzers: no crash"
