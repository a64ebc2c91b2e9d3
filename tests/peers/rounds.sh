# Shared by compare.sh and batch.sh: messages, the peers' packages, contestants, and statistics over rounds.

say() { printf '%s\n' "$*" >&2; }

# install_peers PACKAGE...: as root or through sudo (Debian, Ubuntu).
install_peers() {
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -q >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" >&2
}

# summary FORMAT: prints median, least and greatest of the numbers on stdin, each in this format.
summary() {
  sort -g | awk -v f="$1" '{ v[NR] = $1 } END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
                             printf f " (" f " - " f ")", m, v[1], v[NR] }'
}

# vips_commands FILE: writes a script that does the job for IN OUT with the vips command.
vips_commands() {
  cat >"$1" <<'END'
set -e
folder=$(mktemp -d /dev/shm/vips-XXXXXX)
trap 'rm -rf "$folder"' EXIT
vips colourspace "$1" "$folder/grey.v" b-w
vips hist_find "$folder/grey.v" "$folder/counts.v"
low=$(vips min "$folder/grey.v")
high=$(vips max "$folder/grey.v")
scale=$(awk "BEGIN { print 255 / ($high - $low) }")
vips linear --uchar -- "$folder/grey.v" "$folder/stretched.v" "$scale" "$(awk "BEGIN { print -$low * $scale }")"
{ echo 5 5 25 0; for i in 1 2 3 4 5; do echo 1 1 1 1 1; done; } >"$folder/window.mat"
case $2 in *.png) option='[compression=1]' ;; *) option= ;; esac
vips conv "$folder/stretched.v" "$2$option" "$folder/window.mat" --precision integer
END
}

# build_vips OUT, build_opencv OUT: build the programs for those libraries; false if the library is missing.
build_vips() {
  pkg-config --exists vips 2>/dev/null &&
    g++ -O2 -w "$here/vips_pipeline.cpp" -o "$1" $(pkg-config --cflags --libs vips)
}
build_opencv() {
  pkg-config --exists opencv4 2>/dev/null && g++ -O2 -w -std=c++20 "$here/opencv_pipeline.cpp" -o "$1" \
    $(pkg-config --cflags opencv4) -lopencv_core -lopencv_imgproc -lopencv_imgcodecs
}
