#!/usr/bin/env bash
# The .deb of a build, in a bare system of this machine's release:
#
#   package.sh BUILD
#
# Makes the packages, installs imgpipe there with its dependencies, runs it, holds its output against the build's own
# program, byte for byte, and removes it. Needs root, mmdebstrap (or debootstrap) and a Debian mirror; says SKIPPED
# where one of them is missing.
set -euo pipefail
build=$(cd "$1" && pwd)
skip() { echo "package: SKIPPED: $*"; exit 77; }
fail() { echo "package: $*" >&2; exit 1; }

command -v dpkg-shlibdeps >/dev/null || skip "dpkg-shlibdeps is not installed (dpkg-dev)"
rm -rf "$build/packages"
cpack --config "$build/CPackConfig.cmake" >"$build/cpack.log" || { cat "$build/cpack.log"; fail "cpack failed"; }
package=$(ls "$build"/packages/imgpipe_*.deb)
depends=$(dpkg-deb -f "$package" Depends)
echo "package: $(basename "$package") depends on $depends"
grep -q 'libjpeg' <<<"$depends" || fail "dpkg-shlibdeps found no libjpeg"
! grep -qiE 'cuda|nvidia' <<<"$depends" || fail "CUDA is not to be a dependency"
contents=$(dpkg-deb -c "$package")
for file in bin/imgpipe share/doc/imgpipe/{copyright,README.md,LICENSE,changelog.Debian.gz,docs/options.md}; do
  grep -q " \./usr/$file\$" <<<"$contents" || fail "usr/$file is not in it"
done
contents=$(tar -tf "$build"/packages/imgpipe-*.tar.gz)
for file in bin/imgpipe lib/libimgpipe_pipeline.a include/imgpipe/pipeline/runner.h share/doc/imgpipe/README.md; do
  grep -q "^imgpipe-[^/]*/$file\$" <<<"$contents" || fail "$file is not in the tarball"
done
if command -v lintian >/dev/null; then
  lintian --fail-on error "$build"/packages/*.deb
else
  echo "package: lintian is not installed: its check is left out"
fi

[ "$(id -u)" = 0 ] || skip "a bare system is made by root only"
. /etc/os-release
work=$(mktemp -d "$build/package.XXXXXX")
trap 'rm -rf "$work"' EXIT
cat >"$work/in_bare_system" <<'INSIDE'
set -eu
! command -v imgpipe
apt-get install -y -q --no-install-recommends /tmp/imgpipe.deb
imgpipe --version
cd /tmp
imgpipe synth in.png --pattern photo --size 641x479 -q
imgpipe in.png out.png
dpkg -V imgpipe
apt-get remove -y -q imgpipe
! command -v imgpipe
if dpkg -L imgpipe 2>&1 | grep -x /usr/bin/imgpipe; then exit 1; fi
INSIDE
make_system() {
  if command -v mmdebstrap >/dev/null; then
    mmdebstrap --mode=root --variant=apt "$VERSION_CODENAME" "$work/root" \
      --customize-hook="sh $work/try_it \"\$1\""
  else
    debootstrap --variant=minbase "$VERSION_CODENAME" "$work/root" && sh "$work/try_it" "$work/root"
  fi
}
cat >"$work/try_it" <<OUTSIDE
set -eu
touch $work/system_is_there
cp $package "\$1/tmp/imgpipe.deb"
cp $work/in_bare_system "\$1/tmp/"
DEBIAN_FRONTEND=noninteractive chroot "\$1" sh /tmp/in_bare_system
cp "\$1"/tmp/in.png "\$1"/tmp/out.png $work/
touch $work/done
OUTSIDE
command -v mmdebstrap >/dev/null || command -v debootstrap >/dev/null ||
  skip "neither mmdebstrap nor debootstrap is installed"
make_system >"$work/log" 2>&1 || true
[ -e "$work/system_is_there" ] || skip "no bare system could be made: $(grep -E '^E:' "$work/log" | head -1)"
[ -e "$work/done" ] || { tail -40 "$work/log"; fail "the package does not work in a bare system"; }
"$build/imgpipe" synth "$work/built.png" --pattern photo --size 641x479 -q
cmp "$work/built.png" "$work/in.png"
"$build/imgpipe" "$work/in.png" "$work/built_out.png" -q
cmp "$work/built_out.png" "$work/out.png"
echo "package: installed in a bare $PRETTY_NAME, the same bytes as the build's program, removed"
