#!/usr/bin/env bash
# Maintains the corpora of the fuzzers, build/fuzz/corpus_TARGET, which fuzz.sh has built and extended.
#   fuzz_corpus.sh add DIRECTORY [TARGET...]   adds the files, such as a public corpus, that reach new code
#   fuzz_corpus.sh minimise [TARGET...]        keeps the smallest files that reach the same code
set -euo pipefail
case ${1:-} in
  add) added=$(realpath "$2") && shift 2 ;;
  minimise) added= && shift ;;
  *) sed -n 's/^#   //p' "$0" >&2 && exit 2 ;;
esac
cd "$(dirname "$0")/../../build/fuzz"
corpora=("${@/#/corpus_}")
[ $# -gt 0 ] || corpora=(corpus_*)
for corpus in "${corpora[@]}"; do
  name=${corpus#corpus_}
  fuzzer=(./tests/fuzz_"${name/#decode_*/decode}" -merge=1 -max_len=8192 -timeout=60 -rss_limit_mb=2048)
  before=$(find "$corpus" -type f | wc -l)
  if [ -n "$added" ]; then
    "${fuzzer[@]}" "$corpus" "$added" >/dev/null 2>&1
  else
    rm -rf "$corpus.new"
    mkdir "$corpus.new"
    "${fuzzer[@]}" "$corpus.new" "$corpus" >/dev/null 2>&1
    rm -r "$corpus"
    mv "$corpus.new" "$corpus"
  fi
  echo "$corpus: $before files before, $(find "$corpus" -type f | wc -l) after"
done
