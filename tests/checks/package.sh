#!/usr/bin/env bash
# Tests a build's .deb packages in a bare system of this machine's release:
#
#   package.sh BUILD
#
# Makes the packages twice, with equal bytes. Installs imgpipe there with its dependencies, runs it, compares its output
# with that of the build's program byte for byte, installs imgpipe-bench, and removes both. Exits with 77 only without
# dpkg-shlibdeps, root, a bootstrap tool (mmdebstrap or debootstrap) or access to the mirror of this machine's package
# sources, or in a container that forbids chroot or mounts. Any other problem is a failure.
set -euo pipefail
build=$(cd "$1" && pwd)
skip() { echo "package: SKIPPED: $*"; exit 77; }
fail() { echo "package: $*" >&2; exit 1; }

# Fails if a program is less hardened than a package of this release, by its ELF headers and dpkg-buildflags(1).
hardened() { # PROGRAM
  local facts symbols command compiler macros flag level least
  facts=$(readelf -Whld "$1") symbols=$(readelf -W --dyn-syms "$1")
  grep -q 'Flags:.* PIE' <<<"$facts" || fail "$1: not position-independent"
  grep -q 'BIND_NOW' <<<"$facts" || fail "$1: without immediate binding"
  grep -q 'GNU_RELRO' <<<"$facts" || fail "$1: without read-only relocations"
  grep -qE 'GNU_STACK .* RW +0x' <<<"$facts" || fail "$1: has an executable stack"
  ! grep -qE '\((RPATH|RUNPATH)\)' <<<"$facts" || fail "$1: has a run path"
  grep -q ' __stack_chk_fail@' <<<"$symbols" || fail "$1: without stack protector"
  grep -q '_chk@GLIBC' <<<"${symbols//__stack_chk_fail@/}" || fail "$1: calls no fortified function"
  command=$(grep -m1 -E '"command": .*imgpipe_app' "$build/compile_commands.json")
  compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
  macros=$("$compiler" -O2 -dM -E -x c++ /dev/null)
  for flag in $(dpkg-buildflags --get CPPFLAGS) $(dpkg-buildflags --get CXXFLAGS); do
    case $flag in
      -D_FORTIFY_SOURCE=*)
        least=${flag#*=}
        level=$(grep -oE -- '-D_FORTIFY_SOURCE=[0-9]' <<<"$command" | tail -1)
        [ -n "$level" ] || level=$(sed -n 's/^#define _FORTIFY_SOURCE /=/p' <<<"$macros")
        ((${level#*=} >= least)) || fail "$1: _FORTIFY_SOURCE is ${level#*=}; configure with CXXFLAGS=$flag"
        ;;
      -fstack-protector* | -fstack-clash-protection | -fcf-protection* | -mbranch-protection*)
        grep -qF -- " $flag" <<<"$command" ||
          "$compiler" -Q --help=common,target | grep -qE -- "^ *${flag%%=*}[ =].*(enabled|full|standard)" ||
          fail "$1: compiled without $flag; configure with CXXFLAGS=$flag"
        ;;
    esac
  done
}

# A build in the same directory must give the same bytes, but nvcc names kernels by the number of its process if their
# file defines only templates for other files.
for program in "$build"/imgpipe "$build"/imgpipe-bench; do
  name=$(grep -aoE '_GLOBAL__N__[0-9a-f]{8}_[0-9]+_[A-Za-z0-9_]+_cu_[0-9a-f]{8}_[0-9]+' "$program" | sort -u || true)
  [ -z "$name" ] || fail "$program: names hold the number of a process:" $name
done

command -v dpkg-shlibdeps >/dev/null || skip "dpkg-shlibdeps is not installed (dpkg-dev)"
rm -rf "$build/packages"
pack() { # [CPACK OPTION...]
  cpack --config "$build/CPackConfig.cmake" "$@" >"$build/cpack.log" || { cat "$build/cpack.log"; fail "cpack failed"; }
}
(umask 077 && pack)
mkdir "$build/packages/first"
cp "$build"/packages/*.deb "$build/packages/first"
(umask 077 && TZ=Asia/Tokyo pack -G DEB)  # the members of a .deb have modes by the umask
for file in "$build"/packages/*.deb; do
  cmp "$build/packages/first/$(basename "$file")" "$file" || fail "packed again, $(basename "$file") differs"
done
rm -r "$build/packages/first"
package=$(ls "$build"/packages/imgpipe_*.deb)
depends=$(dpkg-deb -f "$package" Depends)
echo "package: $(basename "$package") depends on $depends"
grep -q 'libjpeg' <<<"$depends" || fail "dpkg-shlibdeps found no libjpeg"
! grep -qiE 'cuda|nvidia' <<<"$depends" || fail "CUDA is not to be a dependency"
bench=$(ls "$build"/packages/imgpipe-bench_*.deb)
grep -qF "imgpipe (= $(dpkg-deb -f "$package" Version))" <<<"$(dpkg-deb -f "$bench" Depends)" ||
  fail "imgpipe-bench does not depend on its own version of imgpipe"
contents=$(dpkg-deb -c "$bench")
lab=(libexec/imgpipe/imgpipe-bench share/man/man1/imgpipe-bench.1.gz)
for file in "${lab[@]}" share/doc/imgpipe-bench/{copyright,changelog.Debian.gz}; do
  grep -q " \./usr/$file\$" <<<"$contents" || fail "usr/$file is not in imgpipe-bench"
done
contents=$(dpkg-deb -c "$package")
for file in "${lab[@]}"; do
  ! grep -q " \./usr/$file\$" <<<"$contents" || fail "usr/$file is in imgpipe"
done
# The SBOM names every dependency.
sbom=$(dpkg-deb --fsys-tarfile "$package" | tar -xO ./usr/share/doc/imgpipe/imgpipe.cdx.json)
for name in $(sed 's/([^)]*)//g; s/,/ /g' <<<"$depends"); do
  grep -qF "\"name\": \"$name\"" <<<"$sbom" || fail "the SBOM lacks $name"
done
for file in bin/imgpipe share/doc/imgpipe/{copyright,README.md,LICENSE,changelog.Debian.gz,docs/options.md}; do
  grep -q " \./usr/$file\$" <<<"$contents" || fail "usr/$file is not in it"
done
# Permissions must not depend on the umask of the checkout or of cpack.
for file in "$build"/packages/*.deb; do
  odd=$(dpkg-deb -c "$file" | grep -vE '^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x|lrwxrwxrwx) ' || true)
  [ -z "$odd" ] || fail "permissions in $(basename "$file"): $odd"
done
contents=$(tar -tf "$build"/packages/imgpipe-*.tar.gz)
for file in bin/imgpipe libexec/imgpipe/imgpipe-bench 'lib/\([^/]*/\)\?libimgpipe_pipeline\.a' \
  include/imgpipe/runner.h share/doc/imgpipe/README.md; do
  grep -q "^imgpipe-[^/]*/$file\$" <<<"$contents" || fail "$file is not in the tarball"
done
# Only the lab contains the lab's kernels, the text of sources, and loaders of other libraries.
of_the_lab='#include "|lab/kernels/|libnvjpeg|libnpp'
unpacked=$(mktemp -d "$build/unpacked.XXXXXX")
dpkg-deb -x "$package" "$unpacked"
dpkg-deb -x "$bench" "$unpacked"
for file in "$unpacked"/usr/{bin/imgpipe,libexec/imgpipe/imgpipe-bench}; do hardened "$file"; done
found=$(grep -aoE "$of_the_lab" "$unpacked/usr/bin/imgpipe" | sort -u || true)
grep -qaE "$of_the_lab" "$unpacked/usr/libexec/imgpipe/imgpipe-bench" || fail "imgpipe-bench has no sources"
rm -rf --one-file-system "$unpacked"
[ -z "$found" ] || fail "the program has parts of the lab: $found"
# No file may name the build directory, or another one whose objects came from ccache.
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
for kind in deb tar.gz; do
  unpacked=$(mktemp -d "$build/unpacked.XXXXXX")
  for file in "$build"/packages/*."$kind"; do
    if [ "$kind" = deb ]; then dpkg-deb -x "$file" "$unpacked"; else tar -xf "$file" -C "$unpacked"; fi
  done
  found=$(grep -rlaF -e "$source/" -e "$build/" "$unpacked" || true)
  found+=$(grep -rlaE -e '/\.\./\.\./(app|images|kernels|lab|pipeline)\b' "$unpacked" || true)
  dead=$(cd "$unpacked" && find . -name '*.md' | while read -r page; do
    grep -oE '\]\([^):#]+[#)]' "$page" | sed 's/^](//; s/[#)]$//' | while read -r target; do
      [ -e "$(dirname "$page")/$target" ] || echo "$page: $target"
    done || true
  done)
  rm -rf --one-file-system "$unpacked"
  [ -z "$dead" ] || fail "links lead nowhere: $dead"
  [ -z "$found" ] || fail "these name the folder of the build: $(tr '\n' ' ' <<<"$found")"
done
if command -v lintian >/dev/null; then
  lintian --fail-on error,warning "$build"/packages/*.deb
else
  echo "package: SKIPPED: lintian is not installed"
fi

[ "$(id -u)" = 0 ] || skip "a bare system is made by root only"
command -v mmdebstrap >/dev/null || command -v debootstrap >/dev/null ||
  skip "neither mmdebstrap nor debootstrap is installed"
. /etc/os-release
work=$(mktemp -d "$build/package.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT

# Containers may forbid these.
reason=$(chroot / true 2>&1) || skip "chroot is forbidden here: $reason"
# shellcheck disable=SC2016
reason=$(unshare --mount sh -c 'mount --bind "$1" "$1"' sh "$work" 2>&1) || skip "mounts are forbidden here: $reason"

# The machine's package sources for its release, including a local mirror and universe.
sources=()
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  if [ -e "$file" ] && grep -v '^#' "$file" | grep -qw "$VERSION_CODENAME"; then sources+=("$file"); fi
done
((${#sources[@]})) || fail "no file of /etc/apt names $VERSION_CODENAME"
mkdir -p "$work/lists/partial"
if ! apt-get update -o Dir::State::lists="$work/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
  -o APT::Sandbox::User=root -o APT::Update::Error-Mode=any -o Acquire::Retries=2 >"$work/log" 2>&1; then
  unreachable='Temporary failure resolving|Could not resolve|Could not connect|Unable to connect'
  unreachable+='|Connection (failed|timed out|refused)|Network is unreachable'
  reason=$(grep -m1 -E "$unreachable" "$work/log") || { cat "$work/log"; fail "apt-get update failed"; }
  skip "the package mirror is not reachable: $reason"
fi
apt-config dump | grep -E '^Acquire::https?::Proxy ' >"$work/proxy" || true

cat >"$work/in_bare_system" <<'INSIDE'
set -eu
wrong() { echo "$*"; exit 1; }
if command -v imgpipe; then wrong "imgpipe is there before it is installed"; fi
apt-get install -y -q --no-install-recommends /tmp/imgpipe.deb
imgpipe --version
cd /tmp
imgpipe synth in.png --pattern photo --size 641x479 -q
imgpipe in.png out.png
status=0
imgpipe bench --list 2>message || status=$?
[ "$status" = 2 ] && grep -q 'install the package imgpipe-bench$' message || wrong "without imgpipe-bench: $status"
imgpipe help bench >/dev/null
apt-get install -y -q --no-install-recommends /tmp/imgpipe-bench.deb
imgpipe bench --list >list
grep -q '^smooth$' list || wrong "imgpipe bench lists no ladders"
changed=$(dpkg -V imgpipe imgpipe-bench) || true
[ -z "$changed" ] || wrong "other files than the package's: $changed"
dpkg -L imgpipe imgpipe-bench | while read -r file; do if [ ! -d "$file" ]; then echo "$file"; fi; done >files
grep -qx /usr/bin/imgpipe files || wrong "the package has no /usr/bin/imgpipe"
apt-get remove -y -q imgpipe
if [ -e /usr/libexec/imgpipe ]; then wrong "imgpipe-bench is there without imgpipe"; fi
while read -r file; do if [ -e "$file" ]; then wrong "$file remains"; fi; done <files
if [ -e /usr/bin/imgpipe ]; then wrong "imgpipe is there after it is removed"; fi
INSIDE
cat >"$work/try_it" <<OUTSIDE
set -eu
cp ${package@Q} "\$1/tmp/imgpipe.deb"
cp ${bench@Q} "\$1/tmp/imgpipe-bench.deb"
cp ${work@Q}/in_bare_system "\$1/tmp/"
DEBIAN_FRONTEND=noninteractive chroot "\$1" sh /tmp/in_bare_system
cp "\$1/tmp/in.png" "\$1/tmp/out.png" ${work@Q}/
touch ${work@Q}/done
OUTSIDE
by_mmdebstrap() {
  mmdebstrap --mode=root --variant=apt --aptopt="$work/proxy" --customize-hook="sh ${work@Q}/try_it \"\$1\"" \
    "$VERSION_CODENAME" "$work/root" "${sources[@]}"
}
by_debootstrap() {
  local mirror
  # shellcheck disable=SC2016
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
    awk -v release="$VERSION_CODENAME" '$2 == release && !found { print $1; found = 1 }')
  debootstrap --variant=minbase "$VERSION_CODENAME" "$work/root" "$mirror" || return
  rm -f "$work/root/etc/apt/sources.list"
  cp "$work/proxy" "$work/root/etc/apt/apt.conf.d/99proxy"
  for file in "${sources[@]}" /etc/apt/keyrings /etc/apt/trusted.gpg.d; do
    if [ -e "$file" ]; then cp -r "$file" "$(dirname "$work/root$file")" || return; fi
  done
  chroot "$work/root" apt-get update -q && sh "$work/try_it" "$work/root"
}
make=by_mmdebstrap
command -v mmdebstrap >/dev/null || make=by_debootstrap
$make >"$work/log" 2>&1 || { tail -40 "$work/log"; fail "the package does not work in a bare system"; }
[ -e "$work/done" ] || { tail -40 "$work/log"; fail "the package was not tried"; }
"$build/imgpipe" synth "$work/built.png" --pattern photo --size 641x479 -q
cmp "$work/built.png" "$work/in.png"
"$build/imgpipe" "$work/in.png" "$work/built_out.png" -q
cmp "$work/built_out.png" "$work/out.png"
echo "package: installed in a bare $PRETTY_NAME, the same bytes as the build's program, removed"
