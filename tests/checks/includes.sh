#!/usr/bin/env bash
# Includes point down only: app > pipeline > kernels > images. Libraries stay where they belong.
set -euo pipefail
cd "$(dirname "$0")/../.."
failed=0

# forbid PATTERN WHY FILES...: no line of FILES may match.
forbid() {
  local pattern=$1 why=$2
  shift 2
  (($#)) || return 0
  if grep -nE "$pattern" "$@" /dev/null; then
    echo "includes: $why" >&2
    failed=1
  fi
}
sources() { git ls-files -co --exclude-standard "$@" | grep -E '\.(h|cpp|cu|cuh)$' || true; }

mapfile -t images < <(sources images)
mapfile -t kernels < <(sources kernels)
mapfile -t pipeline < <(sources pipeline)
mapfile -t app < <(sources app)
mapfile -t lab < <(sources lab)
mapfile -t lab_kernels < <(sources lab/kernels)
forbid '#include "(app|pipeline|kernels|tests)/' 'images is the lowest floor' "${images[@]}"
forbid '#include "(app|pipeline|tests)/' 'kernels may include images only' "${kernels[@]}"
forbid '#include "(app|tests)/' 'pipeline may include kernels and images only' "${pipeline[@]}"
forbid '#include "lab/' 'the lab is a program of its own: only it and tests include it' \
  $(sources | grep -vE '^(lab|tests)/')
forbid '#include "(app|pipeline|tests|lab/(bench|pipeline))/' 'kernels of the lab may include kernels and images only' \
  "${lab_kernels[@]}"
forbid '#include "(app|tests|lab/bench)/' 'the lab measures without the application' $(sources lab/pipeline)
forbid '#include "tests/' 'programs do not include their tests' "${app[@]}" "${lab[@]}"
forbid '#include "\.\.?/' 'paths are written from the top of the tree' \
  "${images[@]}" "${kernels[@]}" "${pipeline[@]}" "${app[@]}" "${lab[@]}"
forbid '#include <(iostream|cstdio|thread|mutex)>' 'kernels neither print nor synchronise' \
  "${kernels[@]}" "${lab_kernels[@]}"
forbid 'cudaMalloc|cudaFree|cudaHostAlloc|dlopen|thread_local|\bstatic [^c(]*[=;]' \
  'kernels, the lab'\''s too, neither allocate nor keep state' "${kernels[@]}" "${lab_kernels[@]}"
forbid '#include <cxxopts' 'cxxopts is for app/options/option_parser.cpp (and its version)' \
  $(sources | grep -vE '^app/(options/option_parser|version)\.cpp$')
forbid '#include <toml' 'toml++ is for app/options/preset_file.cpp' \
  $(sources | grep -v '^app/options/preset_file.cpp$')
forbid '#include <sha256' 'libmd is for app/process_options/options_digest.cpp' \
  $(sources | grep -v '^app/process_options/options_digest.cpp$')
forbid '#include <spdlog/[^v]' 'spdlog is for app/log.cpp' $(sources | grep -v '^app/log.cpp$')
forbid '#include <stb/' 'stb is for images/codecs/stb/stb_codec.cpp' \
  $(sources | grep -v '^images/codecs/stb/stb_codec.cpp$')
forbid '#include <(cuda|nvtx)' 'CUDA headers are for .cu files and pipeline/cuda' \
  $(sources | grep -vE '\.cuh?$|^pipeline/cuda/|^lab/(benchmarks/|pipeline/.*_cuda)|^tests/')
((failed == 0)) && echo "includes: point down only"
exit $failed
