#!/usr/bin/env bash
# Checks that clang-format would change no C++ or CUDA file.
set -euo pipefail
cd "$(dirname "$0")/../.."
git ls-files -z -co --exclude-standard '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -0 clang-format --dry-run -Werror
echo "format: clean"
