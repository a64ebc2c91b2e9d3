#!/usr/bin/env bash
# Makes the files of a release from a tag, in a clean clone of this repository:
#
#   app/package/release.sh [--key FILE] [--cuda OFF] [--tests COMMAND] [--archives DIR] [--python NAME]... TAG OUTPUT
#
# OUTPUT gets the .deb packages, their tarball, the source tarball, the wheels, the SBOM, RELEASE_NOTES.md (a section of
# CHANGELOG.md), SHA256SUMS, and SHA256SUMS.sig or UNSIGNED. Uploads nothing.
#
# TAG must be vVERSION of CMakeLists.txt, and CHANGELOG.md must have a section of that version with a date. --key is a
# private OpenSSH key that signs SHA256SUMS; without it the release is unsigned. --tests is run in the clone (default:
# ./run test). --archives and --python are for app/python/wheel/build.py; --python none makes no wheel.
# Run it twice and compare SHA256SUMS: the files should depend neither on checkout, date nor umask (docs/install.md).
set -euo pipefail
fail() { echo "release: $*" >&2; exit 1; }
usage() { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
key='' cuda=ON tests='./run test' archives=() pythons=()
while [[ ${1:-} == --* && $# -gt 1 ]]; do
  case $1 in
    --key) key=$(realpath "$2") ;;
    --cuda) cuda=$2 ;;
    --tests) tests=$2 ;;
    --archives) archives=(--archives "$(realpath "$2")") ;;
    --python) pythons+=("$2") ;;
    *) usage ;;
  esac
  shift 2
done
[ $# = 2 ] || usage
tag=$1 output=$(realpath -m "$2")
[ ! -e "$output" ] || fail "$2: exists; name a new directory"
[ -z "$key" ] || [ -r "$key" ] || fail "$key: cannot be read"
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
umask 022
unset SOURCE_DATE_EPOCH
export LC_ALL=C.UTF-8

git clone -q --no-local --single-branch --branch "$tag" "$root" "$work/imgpipe" 2>"$work/log" ||
  fail "$tag: $(tail -1 "$work/log")"
cd "$work/imgpipe"
version=$(sed -nE 's/^project\(imgpipe VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
[ "$tag" = "v$version" ] || fail "$tag: CMakeLists.txt has version $version; tag v$version, or change the file"
[ "$(git describe --exact-match --tags)" = "$tag" ] || fail "$tag: not a tag"
grep -qE "^## $version \(20[0-9-]{8}\)$" CHANGELOG.md ||
  fail "CHANGELOG.md: no line '## $version (YYYY-MM-DD)'; write the date before the tag"

files=$work/files
mkdir "$files"
awk -v head="## $version " 'index($0, "## ") == 1 { inside = index($0, head) == 1 } inside' CHANGELOG.md \
  >"$files/RELEASE_NOTES.md"
git archive --prefix="imgpipe-$version/" "$tag" | gzip -9n >"$files/imgpipe-$version.tar.gz"

echo "release: $version: tests ($tests)"
eval "$tests" || fail "the tests failed"
[ -z "$(git status --porcelain)" ] || fail "the tests changed files: $(git status --porcelain | head -3)"

# nvcc's symbols hold a hash of the directory of the build.
fixed=/tmp/imgpipe-release
mkdir "$fixed" || fail "remove $fixed, unless another release is being made"
trap 'rm -rf --one-file-system "$work" "$fixed"' EXIT

echo "release: $version: packages"
git clone -q --branch "$tag" "$work/imgpipe" "$fixed/imgpipe" 2>"$work/log" || fail "$(tail -1 "$work/log")"
cd "$fixed/imgpipe"
cmake --preset release -B build/package -DCMAKE_INSTALL_PREFIX=/usr -DIMGPIPE_CUDA="$cuda" -DIMGPIPE_TESTS=OFF \
  -DIMGPIPE_PYTHON=OFF >"$work/log" || { cat "$work/log"; fail "CMake failed"; }
cmake --build build/package >"$work/log" || { cat "$work/log"; fail "the build failed"; }
code=0
tests/checks/package.sh build/package || code=$?
[ "$code" = 0 ] || [ "$code" = 77 ] || fail "the packages failed their test"
install -m 644 build/package/packages/*.{deb,tar.gz} "$files"
package=$(echo "$files"/imgpipe_"$version"-*.deb)
dpkg-deb --fsys-tarfile "$package" | tar -xO ./usr/share/doc/imgpipe/imgpipe.cdx.json >"${package%.deb}.cdx.json"

if [ "${pythons[*]}" != none ]; then
  echo "release: $version: wheels"
  SOURCE_DATE_EPOCH=$(date -u -d "$(git log -1 --format=%cs)" +%s) \
    app/python/wheel/build.py --cuda "$cuda" "${archives[@]}" --output "$files" "${pythons[@]}"
fi

(cd "$files" && sha256sum -- * >"$work/SHA256SUMS")
mv "$work/SHA256SUMS" "$files"
if [ -n "$key" ]; then
  ssh-keygen -q -Y sign -f "$key" -n imgpipe-release "$files/SHA256SUMS"
  ssh-keygen -Y check-novalidate -n imgpipe-release -s "$files/SHA256SUMS.sig" <"$files/SHA256SUMS"
else
  echo "imgpipe $version: unsigned. SHA256SUMS detects damage, not a forged release." | tee "$files/UNSIGNED"
fi
cp -r "$files" "$output"
echo "release: $output: $(find "$output" -type f | wc -l) files"
