#!/usr/bin/env bash
# A directory of JPEGs to PNG, by imgpipe and by common tools for directories, one after the other in every round.
#
#   tests/peers/batch.sh [--install] [--rounds N] [--images N] [--memory SIZE] IMGPIPE
#
# The job for each of 200 synthetic photographs of 2 to 8 MP: grey, histogram, min/max stretch, 5x5 mean, PNG. Prints a
# Markdown table: images/s (median and range over the rounds), each tool's time relative to imgpipe's (median and range
# of the ratios within a round), and peak memory. imgpipe runs with --memory, and its peak must stay below that. Missing
# peers are named and left out; --install installs all of them (Debian, Ubuntu; as root or through sudo).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/rounds.sh"
rounds=5
images=200
memory=512M
install=0
while [[ ${1:-} == --* ]]; do
  case $1 in
    --install) install=1 ;;
    --rounds) rounds=$2 && shift ;;
    --images) images=$2 && shift ;;
    --memory) memory=$2 && shift ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  esac
  shift
done
imgpipe=$(realpath "${1:?batch.sh: name the imgpipe program}")
((!install)) || install_peers g++ pkg-config libvips-tools libvips-dev graphicsmagick libopencv-dev parallel procps time
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/in"
say "making $images photographs"
for ((i = 0; i < images; i++)); do  # 2 to 8 MP, including 3:2 and upright images
  width=$((1732 + (i * 37 % 100) * 1732 / 100))
  height=$((width * 2 / 3))
  ((i % 4)) || { t=$width width=$height height=$t; }
  echo "$i ${width}x$height"
done | xargs -P "$(nproc)" -L 1 \
  sh -c '"$0" synth "$1/in/$2.jpg" --pattern photo --size "$3" --seed "$2" --quality 90 -q' "$imgpipe" "$work"
(($(ls "$work/in" | wc -l) == images)) || { say "batch.sh: could not make the photographs"; exit 1; }

names=()
declare -A commands
contestant() {
  names+=("$1")
  commands[$1]=$2
}
contestant "imgpipe $("$imgpipe" --version | head -1 | cut -d' ' -f2)" \
  "'$imgpipe' IN OUT --format png --device cpu --memory $memory -q"
have_parallel=0
command -v parallel >/dev/null && parallel --version 2>/dev/null | grep -q GNU && have_parallel=1
((have_parallel)) || say "batch.sh: no GNU parallel: vips for each file is left out"
if ((have_parallel)) && build_vips "$work/vips_pipeline"; then
  contestant "libvips $(pkg-config --modversion vips), a C program a file, GNU parallel" \
    "ls IN/*.jpg | VIPS_CONCURRENCY=1 parallel -j $(nproc) '$work/vips_pipeline' {} OUT/{/.}.png"
fi
if ((have_parallel)) && command -v vips >/dev/null; then
  vips_commands "$work/vips_file.sh"
  contestant "vips commands a file, GNU parallel" \
    "ls IN/*.jpg | VIPS_CONCURRENCY=1 parallel -j $(nproc) bash '$work/vips_file.sh' {} OUT/{/.}.png"
fi
if command -v gm >/dev/null; then
  ones=1$(printf ',1%.0s' {1..24})
  steps="-colorspace GRAY -normalize -convolve $ones -quality 10"
  contestant "gm mogrify $(gm version | head -1 | cut -d' ' -f2)" \
    "cd IN && gm mogrify -output-directory OUT -format png $steps *.jpg"
else
  say "batch.sh: no gm: GraphicsMagick is left out"
fi
if build_opencv "$work/opencv_pipeline"; then
  share=$(((images + 4 * $(nproc) - 1) / (4 * $(nproc))))  # images per process
  contestant "OpenCV $(pkg-config --modversion opencv4), a process a core" \
    "ls IN/*.jpg | xargs -P $(nproc) -n $share '$work/opencv_pipeline' --files OUT"
else
  say "batch.sh: no libopencv-dev: OpenCV is left out"
fi

# Measures the peak memory in MB of a command with all its children, ten times a second.
peak_of() { # PID FILE
  local most=0 sum
  while kill -0 "$1" 2>/dev/null; do
    sum=$(ps -o rss= --ppid "$1" -p "$1" $(pgrep -P "$1" | sed 's/^/--ppid /') 2>/dev/null |
      awk '{ s += $1 } END { printf "%d", s / 1024 }' || true)
    ((sum > most)) && most=$sum
    sleep 0.1
  done
  echo "$most" >>"$2"
}
run() { # NAME: seconds
  local command=${commands[$1]//IN/"$work/in"}
  command=${command//OUT/"$work/out"}
  rm -rf "$work/out" && mkdir "$work/out"
  local start=$EPOCHREALTIME
  bash -c "$command" >/dev/null &
  local pid=$!
  [ -z "${2:-}" ] || peak_of "$pid" "$2" &
  wait "$pid"
  awk "BEGIN { printf \"%.4f\n\", $EPOCHREALTIME - $start }"
}
for ((round = 0; round <= rounds; round++)); do  # round 0 warms the caches and measures memory
  for i in "${!names[@]}"; do
    if ((round == 0)); then
      run "${names[i]}" "$work/memory $i" >/dev/null
      (($(ls "$work/out" | wc -l) == images)) || { say "batch.sh: ${names[i]} did not make $images files"; exit 1; }
    else
      run "${names[i]}" >>"$work/times $i"
    fi
  done
  say "round $round of $rounds"
done

echo "$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | sed 's/^ //'), $(nproc) processors, $(date -u +%F)," \
  "$images JPEGs of 2 to 8 MP ($(du -sm "$work/in" | cut -f1) MB) to PNG, $rounds rounds"
echo
echo "| program | images/s: median (range) | times as long | peak MB |"
echo "|---|---|---|---|"
for i in "${!names[@]}"; do
  ratio=$(paste "$work/times $i" "$work/times 0" | awk '{ print $1 / $2 }' | summary %.2f)
  rate=$(awk -v n="$images" '{ print n / $1 }' "$work/times $i" | summary %.1f)
  echo "| ${names[i]} | $rate | $ratio | $(sort -n "$work/memory $i" | tail -1) |"
done
rm -rf "$work/out"
/usr/bin/time -o "$work/exact" -f %M "$imgpipe" "$work/in" "$work/out" --format png --device cpu --memory "$memory" -q
limit=$(awk -v m="$memory" 'BEGIN {
  f["K"] = 1; f["M"] = 2^10; f["G"] = 2^20; u = substr(m, length(m)); print (u in f ? m * f[u] : m / 2^10)
}')
echo
echo "imgpipe with --memory $memory: peak $(($(cat "$work/exact") / 1024)) MB, as the system counts"
(($(cat "$work/exact") <= limit)) || { say "batch.sh: imgpipe took more memory than it was given"; exit 1; }
