#!/usr/bin/env bash
# Runs everything of the Python package that needs a CUDA device, and prints a summary.
#
#   tests/peers/python_device_all.sh [tests|exact|arrays|streams|memory|devices|large|training|loader]...
#
# Needs imgpipe on PYTHONPATH or installed, and pytest, numpy, Pillow, torch; torchvision, cupy, nvImageCodec as far as
# installed. PYTHON names the interpreter; OUT the directory of the logs. Each part has a time limit. "tests loader
# training" and "devices large" take less than 10 minutes each.
set -uo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
out=${OUT:-$(mktemp -d)}
export IMGPIPE_REQUIRE_GPU=1 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
parts=" ${*:-tests loader training devices large} "
parts=${parts/ tests / exact arrays streams memory }
summary=()

# part NAME SECONDS COMMAND...: runs the command if the part was named.
part() {
  local name=$1 seconds=$2 status start=$SECONDS
  shift 2
  [[ $parts == *" $name "* ]] || return 0
  echo "== $name: $*"
  timeout "$seconds" "$@" 2>&1 | tee "$out/$name.log" | tail -n 60
  status=${PIPESTATUS[0]}
  [ "$status" = 124 ] && status="not done after $seconds s"
  summary+=("$name: exit $status, $((SECONDS - start)) s: $(grep -E 'passed|failed|images/s' "$out/$name.log" |
    tail -n1)")
}

pytest=("$python" -m pytest -q -p no:cacheprovider --tb=short --durations=5 --maxfail=25)
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
"$python" -c 'import imgpipe, sys; print("imgpipe", imgpipe.__version__, "Python", sys.version.split()[0])' || exit 1
part exact 120 "${pytest[@]}" tests/python/test_devices_exact.py tests/python/test_cuda.py
part arrays 60 "${pytest[@]}" tests/python/test_device_arrays.py
part streams 120 "${pytest[@]}" tests/python/test_streams.py
part memory 240 "${pytest[@]}" tests/python/test_device_memory.py
part loader 60 "$python" tests/peers/python_loader.py --device cuda --images 5000 --batch 256
part training 120 "$python" tests/peers/python_training.py --workers
part devices 270 "$python" tests/peers/python_devices.py --sets small --batches 256,1024
part large 300 "$python" tests/peers/python_devices.py --sets large
echo "== summary (logs: $out)"
printf '%s\n' "${summary[@]}"
! printf '%s\n' "${summary[@]}" | grep -qvE ': exit (0|77),'
