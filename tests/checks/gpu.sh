#!/usr/bin/env bash
# Runs everything that needs a GPU: a build for its architecture, the whole suite with the GPU required,
# compute-sanitizer on awkward shapes, then the timings of docs/measured.md.
#   gpu.sh [all|test|sanitize|bench|lab|batch]...   [CMAKE_OPTIONS in the environment]
set -uo pipefail
cd "$(dirname "$0")/../.."
parts=${*:-all}
wants() { [[ " $parts " == *" $1 "* || " $parts " == *" all "* ]]; }
failed=0
build=build/dev
cmake --preset dev ${CMAKE_OPTIONS:-} >/dev/null && cmake --build --preset dev -j "$(nproc)" | tail -n 1 || exit 1
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
export IMGPIPE_REQUIRE_GPU=1

if wants test; then
  IMGPIPE_CORPUS= ctest --preset dev -j "$(($(nproc) / 2))" --no-tests=error 2>&1 | grep -vE 'Start|Passed'
  [ "${PIPESTATUS[0]}" = 0 ] || failed=1
fi

# sanitize SECONDS TOOL PROGRAM FILTER: runs a program's tests under a tool of compute-sanitizer. A filter that matches
# no test, or only skipped ones, fails.
sanitize() {
  echo "== compute-sanitizer $2, $3 $4"
  local output status
  output=$(timeout "$1" compute-sanitizer --tool "$2" --error-exitcode 9 "$build/tests/$3" --gtest_filter="$4" 2>&1)
  status=$?
  grep -E 'ERROR SUMMARY|RACECHECK SUMMARY|PASSED|FAILED|Invalid|hazard|Uninit' <<<"$output" | head -n 12
  [ "$status" != 124 ] || echo "not done after $1 s"
  [ "$status" = 0 ] && grep -qE 'PASSED  \] [1-9]' <<<"$output" || { echo "$2 failed: $3 $4"; failed=1; }
}

if wants sanitize; then
  # The lab's variants, except other libraries' and, for racecheck, the one that races on purpose.
  variants='*Ladder.Contents/cuda*:*Ladder.LargerImage/cuda*-*npp*:*cub*'
  for tool in memcheck racecheck initcheck synccheck; do
    [ $tool = racecheck ] && skip=':*non_atomic*' || skip=
    for case in ManySeeds StridesAndMisalignment; do
      sanitize 150 $tool pixels_tests "*$case/cuda*-*_16_bits"
    done
    # 16-bit samples. Kernels that walk 65,536 bins are slowed down most, so they have tiny cases of their own.
    walkers='*cuda_threshold*:*cuda_hist*:*cuda_contrast*:*cuda_equalize*:*cuda_clahe*'
    sanitize 300 $tool pixels_tests "*StridesAndMisalignment/cuda*_16_bits-$walkers"
    for case in Hist16 Equalize16; do sanitize 150 $tool cuda_tests "Cuda$case.TinyImage"; done
    for case in CudaContrast16.TinyImage CudaThreshold16.OtsuOfOneHistogram CudaThreshold16.OtsuBySearch; do
      sanitize 150 $tool cuda_tests "$case"
    done
    sanitize 150 $tool kernels_tests Clahe.TinyImageOnCuda
    # The codecs' kernels, with awkward, damaged and mixed inputs.
    sanitize 150 $tool cuda_tests '*CodedFiles*:*OneFile*:CudaJpegEntropy.OneColour'
    sanitize 150 $tool cuda_tests 'ReconstructionGroups.CountsOfOneColour:*EverySmallSize/of_420*'
    sanitize 150 $tool cuda_tests '*ReadsNoUninitialised*:*NoScanBeyondCapacity*'
    sanitize 150 $tool cuda_tests '*RunsOfEvery*:*RandomGroups*'
    sanitize 200 $tool lab_tests "$variants$skip"
  done
  sanitize 150 memcheck lab_tests 'CudaLab*'
  sanitize 150 memcheck cuda_tests 'CudaEngine.RepeatedRuns*:CudaEngine.TwoEngines*:CudaEngine.BrokenReader*'
  sanitize 400 memcheck pipeline_tests '*RandomChains.Cuda*/Of16Bits3Channels'
  sanitize 150 memcheck cuda_memory_tests '*Equals*:PinnedMemory*'
fi

if wants bench; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  # Reports failure by its exit status, because in a pipeline it runs in a subshell.
  run() { echo "== imgpipe $*"; "$build/imgpipe" "$@"; }
  for pattern in photo constant:77 colors:2 noise; do
    "$build/imgpipe" synth "$folder/$pattern.ppm" --pattern "$pattern" --size 8773x5352
  done
  "$build/imgpipe" synth "$folder/photo.jpg" --pattern photo --size 8773x5352 --quality 90
  run "$folder/photo.ppm" "$folder/o.pgm" --device cuda --cpu --repeat 50 || failed=1
  run "$folder/photo.ppm" "$folder/o.pgm" --device cuda --cpu --repeat 50 --fuse || failed=1
  for window in triangle gauss; do
    run "$folder/photo.ppm" "$folder/o.pgm" --device cuda --repeat 50 --window $window | grep -E '==|smooth' || failed=1
    run "$folder/photo.ppm" "$folder/o.pgm" --device cuda --repeat 50 --window $window --fuse |
      grep -E '==|smooth' || failed=1
  done
  for pattern in photo constant:77 colors:2 noise; do
    run "$folder/$pattern.ppm" "$folder/o.pgm" --device cuda --repeat 50 | grep -E '==| hist ' || failed=1
  done
  run "$folder/photo.ppm" "$folder/o.ppm" --device cuda --repeat 50 --stages contrast,smooth || failed=1
  run "$folder/photo.jpg" "$folder/o.png" --device cuda --report "$folder/r.json" || failed=1
  python3 -c "import json; r = json.load(open('$folder/r.json'))
print('spans cover', r['span_union_ms'] / r['wall_ms'])"
  run "$folder/photo.jpg" "$folder/p.png" --device reference -q || failed=1
  cmp "$folder/o.png" "$folder/p.png" || failed=1
  for threads in 1 2 4 8 16; do
    run "$folder/photo.jpg" "$folder/p.png" --device cpu --threads $threads |
      grep -E '==|device|decode|encode|end to end' || failed=1
    cmp "$folder/o.png" "$folder/p.png" || failed=1
  done
  run "$folder/photo.ppm" "$folder/p.pgm" --device cpu --cpu --repeat 9 || failed=1
  if [ -n "${IMGPIPE_CORPUS:-}" ]; then
    for photo in "$IMGPIPE_CORPUS"/photos/*; do
      "$build/imgpipe" "$photo" "$folder/o.png" --device cuda --cpu | grep -c identical |
        sed "s|^|$(basename "$photo"): identical stages: |" || failed=1
    done
  fi
fi
if wants lab; then
  # The tables and plots in docs/measured.md: each command's table as NAME.md and its plot as NAME.svg.
  results=${OUT:-$build}/lab
  mkdir -p "$results"
  lab() {
    local name=$1
    shift
    echo "== imgpipe bench $*"
    local begun=$SECONDS
    "$build/imgpipe" bench "$@" --format markdown --plot "$results/$name.svg" >"$results/$name.md" || failed=1
    echo "$((SECONDS - begun)) s, $(grep -c '|' "$results/$name.md") lines of tables"
    grep -E 'fastest|WRONG|faster than' "$results/$name.md"
  }
  lab ladders --stage all
  lab codecs --stage jpeg,png --group 32 --device cuda
  lab colors --study colors
  lab contention --study contention
  lab crossover --study crossover
  lab pipeline --study pipeline
fi
if wants batch; then
  batches=$(mktemp -d -p /dev/shm)
  trap 'rm -rf "$batches" ${folder:+"$folder"}' EXIT
  mkdir "$batches/in"
  seq 500 | xargs -P "$(nproc)" -I{} "$build/imgpipe" synth "$batches/in/{}.jpg" --pattern photo \
    --size 3264x2448 --seed {} --quality 90 -q || failed=1
  echo "== 500 JPEGs of 8 MP, $(du -sm "$batches/in" | cut -f1) MB, $(nproc) processors"
  for format in png jpg; do
    echo "== batch_bench --format $format"
    "$build/lab/benchmarks/batch_bench" "$batches/in" "$batches/out" --format $format --rounds 5 || failed=1
    for device in cuda cpu auto; do
      rm -rf "$batches/out-$device-$format"
      echo "== imgpipe IN OUT --format $format --device $device"
      "$build/imgpipe" "$batches/in" "$batches/out-$device-$format" --format $format --device $device \
        --trace "$batches/trace-$device-$format.json" || failed=1
    done
    diff -rq "$batches/out-cuda-$format" "$batches/out-cpu-$format" &&
      diff -rq "$batches/out-cuda-$format" "$batches/out-auto-$format" &&
      echo "cuda, cpu and auto: the same bytes" || failed=1
  done
  python3 tests/checks/trace_overlap.py "$batches/trace-cuda-png.json" || failed=1
  [ -z "${OUT:-}" ] || cp "$batches/trace-cuda-png.json" "$OUT/"
  "$build/imgpipe" devices --calibrate || failed=1
fi
exit $failed
