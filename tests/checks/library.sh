#!/usr/bin/env bash
# Checks the installed library from another program's view:
#
#   library.sh BUILD [CMAKE OPTION...]
#
# Installs BUILD into a temporary directory, compiles all installed headers there, builds examples/library with
# find_package(imgpipe), and compares its output with the installed program's, sample for sample. Builds one example by
# pkg-config too, and one with BUILD's shared library, if that was built: its exported symbols must be in installed
# headers, and suffice for all of their inline functions.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
shift
work=$(mktemp -d "$build/library.XXXXXX")
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[A-Z]*=//p' "$build/CMakeCache.txt")

cmake --install "$build" --prefix "$work/prefix" >/dev/null
cp -r "$work/prefix/share/doc/imgpipe/examples/library" "$work/source"
cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/prefix" "$@" >/dev/null
cmake --build "$work/build" >"$work/log" || { cat "$work/log"; exit 1; }
# The build must not use the source tree or the build tree, apart from $work, which lies in the latter.
for folder in images kernels pipeline; do
  [ -d "$source/$folder" ] || { echo "library: $source/$folder: not a directory" >&2; exit 1; }
done
cmake_folder=$(dirname "$(find "$work/prefix" -name imgpipe-config.cmake)")
[ -e "$cmake_folder/imgpipe-targets.cmake" ] || { echo "library: no CMake package was installed" >&2; exit 1; }
named=$(cat "$work/build/build.ninja" $(find "$cmake_folder" -name '*.cmake'))
named=${named//"$work"/}
for folder in "$source"/{images,kernels,pipeline} "$build/"; do
  if grep -qF "$folder" <<<"$named"; then
    echo "library: the example was built with files of $folder" >&2
    exit 1
  fi
done

# pkg-config's flags give the same program.
by_pkg_config=
if command -v pkg-config >/dev/null; then
  by_pkg_config=$work/by_pkg_config
  PKG_CONFIG_PATH=$(find "$work/prefix" -name imgpipe.pc -printf '%h')
  export PKG_CONFIG_PATH
  [ "$(pkg-config --modversion imgpipe)" = "$version" ] ||
    { echo "library: imgpipe.pc has another version" >&2; exit 1; }
  # shellcheck disable=SC2046
  g++ -std=c++20 -O1 "$work/source/main.cpp" -o "$by_pkg_config" $(pkg-config --cflags --libs imgpipe)
else
  echo "library: SKIPPED: pkg-config is not installed"
fi

# The shared library exports what the headers need, and nothing else.
by_shared=
shared=$build/libimgpipe.so
if [ -e "$shared" ]; then
  [[ $(readelf -d "$shared") == *"soname: [libimgpipe.so.${version%.*}]"* ]] ||
    { echo "library: the soname is not libimgpipe.so.${version%.*}" >&2; exit 1; }
  by_shared=$work/by_shared
  flags=(-std=c++20 -I"$work/prefix/include" -L"$build" -Wl,-rpath,"$build")
  g++ "${flags[@]}" -O1 "$work/source/main.cpp" -o "$by_shared" -limgpipe
  (cd "$work/prefix/include" && find . -name '*.h' | sed 's|^\./\(.*\)$|#include <\1>|') >"$work/all.cpp"
  g++ "${flags[@]}" -O0 -fkeep-inline-functions -c "$work/all.cpp" -o "$work/all.o"
  lacking=$(nm --undefined-only "$work/all.o" | awk '$2 ~ /^_ZNK?7imgpipe/ { print $2 }' | sort |
    comm -23 - <(nm -D --defined-only "$shared" | sed 's/.* //; s/@.*//' | sort))
  [ -z "$lacking" ] || { echo "library: not exported: $lacking" >&2; exit 1; }
  words=$(find "$work/prefix/include" -name '*.h' -exec grep -ohE '\w+' {} + | sort -u)
  nm -DC --defined-only "$shared" |
    sed -E 's/^[^ ]* [^ ]* //; s/^(vtable|typeinfo|typeinfo name) for //; s/@.*//; s/\(.*//; s/\[abi:.*//' |
    grep -v '^IMGPIPE_' | sort -u >"$work/exported"
  (($(wc -l <"$work/exported") > 100)) || { echo "library: few exported symbols" >&2; exit 1; }
  odd=$(grep -v '^imgpipe::' "$work/exported" || true)
  odd+=$(sed 's/^imgpipe:://; s/::/\n/g; s/~//g' "$work/exported" | grep -v '^operator' | sort -u |
    comm -23 - <(echo "$words"))
  [ -z "$odd" ] || { echo "library: exported, but not in an installed header: $odd" >&2; exit 1; }
  echo "library: $(wc -l <"$work/exported") exported names, all of installed headers"
else
  echo "library: SKIPPED: $shared was not built"
fi

LD_LIBRARY_PATH=$(dirname "$(dirname "$cmake_folder")")  # of an installed shared library
export LD_LIBRARY_PATH
program=$work/prefix/bin/imgpipe example=$work/build/library_example
cd "$work"
"$program" synth 8.png --pattern photo --size 333x251 -q
"$program" synth 16.png --pattern photo --size 251x333 --depth 16 -q
for input in 8 16; do
  for ending in png tif; do
    "$program" $input.png program.$ending --metadata strip --overwrite >program.txt
    "$example" $input.png example.$ending >example.txt
    if [ -n "$by_pkg_config" ]; then
      "$by_pkg_config" $input.png pkg_config.$ending >/dev/null
      cmp example.$ending pkg_config.$ending
    fi
    if [ -n "$by_shared" ]; then
      "$by_shared" $input.png shared.$ending >/dev/null
      cmp example.$ending shared.$ending
    fi
    # The program's mark names the input; piping removes the name, because a stream has a plain mark.
    for maker in program example; do
      "$program" - - --stages none --format ppm -q <$maker.$ending >$maker.ppm
    done
    cmp program.ppm example.ppm
    "$work/build/library_results" $input.png grey.$ending thumbnail.$ending
    for result in "grey gray,contrast" "thumbnail gray,resize:160:120"; do
      name=${result%% *}
      "$program" - - --stages "${result#* }" --format ppm -q <$input.png >program.ppm
      "$program" - - --stages none --format ppm -q <"$name.$ending" >"$name.ppm"
      cmp program.ppm "$name.ppm"
    done
    grep -xF "$(grep '^contrast: lo ' program.txt)" example.txt >/dev/null ||
      { echo "library: the example names another range than the program:"; cat program.txt example.txt; exit 1; }
  done
done
status=0
"$example" no.png out.png 2>error.txt || status=$?
if [ "$status" != 1 ] || ! grep -q 'no.png: ' error.txt || [ -e out.png ]; then
  echo "library: exit $status for a file that is not there: $(cat error.txt)" >&2
  exit 1
fi

cd prefix/include
find . -name '*.h' | sed 's|^\./\(.*\)$|#include <\1>|' |
  "${CXX:-c++}" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I. -x c++ -
echo "library: the example and the program wrote the same samples; $(find . -name '*.h' | wc -l) headers compile"
