#!/usr/bin/env bash
# Every C++ and CUDA file is as clang-format leaves it.
set -euo pipefail
cd "$(dirname "$0")/../.."
git ls-files -z -co --exclude-standard '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -0 clang-format --dry-run -Werror
echo "format: clean"
