#!/usr/bin/env bash
# The same job by imgpipe and by common tools, on the same image, one after the other in every round.
#
#   tests/peers/compare.sh [--install] [--rounds N] [--format png|jpg] IMGPIPE [IMAGE]
#
# The job: read a colour JPEG, convert it to grey, count its values, stretch them to 0..255, smooth with a 5x5 mean,
# write. Prints a Markdown table: median and range of the wall time, file size, peak memory, and each tool's time
# relative to imgpipe's (median and range of the ratios within a round). Then the stages alone against OpenCV's, on one
# thread. Without IMAGE: the synthetic photograph of 8773x5352. Missing peers are named and left out; --install installs
# all of them (Debian, Ubuntu; as root or through sudo).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/rounds.sh"
rounds=7
format=png
install=0
while [[ ${1:-} == --* ]]; do
  case $1 in
    --install) install=1 ;;
    --rounds) rounds=$2 && shift ;;
    --format) format=$2 && shift ;;
    *) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  esac
  shift
done
imgpipe=$(realpath "${1:?compare.sh: name the imgpipe program to compare}")
((!install)) || install_peers g++ pkg-config libvips-tools libvips-dev graphicsmagick imagemagick libopencv-dev time
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
image=${2:-$work/photo.jpg}
[ -n "${2:-}" ] || "$imgpipe" synth "$image" --pattern photo --size 8773x5352 --quality 90 -q

# ---- the contestants --------------------------------------------------------------------------------
names=()
declare -A commands versions
contestant() {
  names+=("$1")
  versions[$1]=$2
  commands[$1]=$3
}
contestant imgpipe "$("$imgpipe" --version | head -1)" "'$imgpipe' IN OUT -q --device cpu"
contestant "imgpipe, 1 thread" "" "'$imgpipe' IN OUT -q --device cpu --threads 1"
if build_vips "$work/vips_pipeline"; then
  contestant "libvips, C program" "$(pkg-config --modversion vips)" "'$work/vips_pipeline' IN OUT"
else
  say "compare.sh: no libvips-dev: its C program is left out"
fi
if command -v vips >/dev/null; then
  vips_commands "$work/vips_commands.sh"
  contestant "libvips, commands" "$(vips --version)" "bash '$work/vips_commands.sh' IN OUT"
else
  say "compare.sh: no vips: its commands are left out"
fi
if build_opencv "$work/opencv_pipeline"; then
  contestant "OpenCV, C++" "$(pkg-config --modversion opencv4)" "'$work/opencv_pipeline' IN OUT"
else
  say "compare.sh: no libopencv-dev: OpenCV is left out"
fi
if command -v gm >/dev/null; then
  ones=1$(printf ',1%.0s' {1..24})
  contestant GraphicsMagick "$(gm version | head -1 | cut -d' ' -f2)" \
    "gm convert IN -colorspace GRAY -normalize -convolve $ones $([ "$format" = png ] && echo '-quality 10') OUT"
else
  say "compare.sh: no gm: GraphicsMagick is left out"
fi
if command -v convert >/dev/null && convert -version 2>/dev/null | grep -q ImageMagick; then
  png_level="-define png:compression-level=1"
  contestant ImageMagick "$(convert -version | head -1 | cut -d' ' -f3)" \
    "convert IN -colorspace Gray -auto-level -define convolve:scale='!' -morphology Convolve Square:2 $png_level OUT"
else
  say "compare.sh: no convert: ImageMagick is left out"
fi

# ---- the rounds -------------------------------------------------------------------------------------
timer=()
[ -x /usr/bin/time ] && timer=(/usr/bin/time -o "$work/memory" -f %M)
run() { # NAME OUTPUT: seconds on stdout
  local command=${commands[$1]//IN/"'$image'"}
  command=${command//OUT/"'$2'"}
  local start=$EPOCHREALTIME
  "${timer[@]}" bash -c "exec $command" >/dev/null
  local end=$EPOCHREALTIME
  awk "BEGIN { printf \"%.4f\n\", $end - $start }"
}
declare -A sizes memory
for ((round = 0; round <= rounds; round++)); do  # round 0 warms the caches
  for name in "${names[@]}"; do
    output=$work/out.$format
    rm -f "$output"
    took=$(run "$name" "$output")
    sizes[$name]=$(stat -c %s "$output")
    [ -s "$work/memory" ] && memory[$name]=$(tail -1 "$work/memory")
    ((round == 0)) || echo "$took" >>"$work/times ${name//\//_}"
  done
  say "round $round of $rounds"
done

echo "$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | sed 's/^ //'), $(nproc) processors, $(date -u +%F)," \
  "$rounds rounds, $(basename "$image") to $format"
echo
echo "| program | version | seconds: median (range) | times as long | MB written | peak MB |"
echo "|---|---|---|---|---|---|"
for name in "${names[@]}"; do
  ratio=$(paste "$work/times ${name//\//_}" "$work/times imgpipe" | awk '{ print $1 / $2 }' | summary %.2f)
  echo "| $name | ${versions[$name]} | $(summary %.3f <"$work/times ${name//\//_}") | $ratio |" \
    "$(awk "BEGIN { printf \"%.2f\", ${sizes[$name]} / 1e6 }") |" \
    "$(awk "BEGIN { printf \"%.0f\", ${memory[$name]:-0} / 1024 }") |"
done

# ---- the stages alone -------------------------------------------------------------------------------
[ -x "$work/opencv_pipeline" ] || exit 0
kernels() { # THREADS: the median over 9 passes of each stage, added up, in ms
  "$imgpipe" "$image" "$work/out.ppm" --format pgm -q --device cpu --threads "$1" --repeat 9 --report "$work/report.csv"
  awk -F, '$1 == "kernels" { print $3 }' "$work/report.csv"
}
for ((round = 0; round < rounds; round++)); do
  kernels 1 >>"$work/stages one"
  kernels 2 >>"$work/stages two"
  "$work/opencv_pipeline" --stages "$image" 9 >>"$work/stages opencv"
done
echo
echo "| the four stages alone | ms: median (range) | against imgpipe on one thread |"
echo "|---|---|---|"
for which in one two opencv; do
  case $which in
    one) label="imgpipe, 1 thread" ;;
    two) label="imgpipe, 2 threads" ;;
    opencv) label="OpenCV, 1 thread" ;;
  esac
  ratio=$(paste "$work/stages $which" "$work/stages one" | awk '{ print $1 / $2 }' | summary %.2f)
  echo "| $label | $(summary %.1f <"$work/stages $which") | $ratio |"
done
