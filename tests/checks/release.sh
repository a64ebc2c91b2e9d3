#!/usr/bin/env bash
# Checks which tags app/package/release.sh refuses, in clones of this repository. Exit 77 without a git checkout.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
[ -e "$root/.git" ] || { echo "release: SKIPPED: not a git checkout"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q "$root" "$work/clone"
cd "$work/clone"
cp "$root/app/package/release.sh" app/package/release.sh  # of the working tree
git config user.name test
git config user.email test@example.invalid
version=$(sed -nE 's/^project\(imgpipe VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
git tag --list "v$version" | xargs -r git tag -d >/dev/null

# refused TEXT TAG [OPTION...]: release.sh must end with 1, a message with TEXT, and no output.
refused() {
  local code=0
  app/package/release.sh --tests 'echo tests ran; false' "${@:3}" "$2" "$work/out" >"$work/said" 2>&1 || code=$?
  if [ "$code" != 1 ] || ! grep -qF "$1" "$work/said" || [ -e "$work/out" ]; then
    echo "release: $2 ${*:3}: exit $code, expected 1 and '$1': $(cat "$work/said")" >&2
    exit 1
  fi
}
refused 'not found' "v$version"
git branch "v$version"
refused 'not a tag' "v$version"
git branch -q -D "v$version"
git tag v99.9.9
refused "CMakeLists.txt has version $version" v99.9.9
sed -i -E "s/^(## $version) .*/\1 (unreleased)/" CHANGELOG.md
git commit -q --allow-empty -am 'no date'
git tag "v$version"
refused 'write the date before the tag' "v$version"
sed -i "s/^## $version (unreleased)/## $version (2026-01-02)/" CHANGELOG.md
git commit -qam 'a date'
git tag -f "v$version" >/dev/null
refused 'no-key: cannot be read' "v$version" --key no-key
refused 'the tests failed' "v$version"
grep -qx 'tests ran' "$work/said" || { echo "release: the tests did not run" >&2; exit 1; }
echo "release: 6 cases"
