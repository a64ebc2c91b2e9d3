# Shared by the cluster_*.sh: runs an unmodified example of examples/cluster/ with its engine through the same cases.
# The including script sets `engine` and `files` (of examples/cluster/) and defines two functions, which are called in a
# directory with in/ and copies of the files:
#
#   run_example   runs the example and its summary of reports as its first lines describe; returns its exit status
#   engine_line   the engine and its version, for people
#
# It then calls run_cases. The cases:
#
#   whole    exits with 0; the outputs equal those of one run without shards; the report counts every image once
#   again    exits with 0; no output and no report has changed
#   killed   a shard is killed (SIGKILL) in the middle: images lack a line, so imgpipe report exits with 1; the next run
#            exits with 0, earlier lines are kept, and no image has been processed twice
#   broken   an image is broken: the exit status is not 0, the report names the image, all others are done; after the
#            image is fixed, the next run exits with 0
#
# Exit 1 if a case failed.
. "$(dirname "${BASH_SOURCE[0]}")/install_peers.sh"

install=0
keep=
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2 && exit 2; }

# begin [--install] [--keep FOLDER] IMGPIPE
begin() {
  local name
  while [[ ${1:-} == --* ]]; do
    case $1 in
      --install) install=1 ;;
      --keep) mkdir -p "$2" && keep=$(realpath "$2") && shift ;;
      *) usage ;;
    esac
    shift
  done
  (($# == 1)) || usage
  imgpipe=$(realpath "$1")
  examples=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../examples/cluster")
  work=$(mktemp -d)
  trap finish EXIT
  # Only the engine may define the parts.
  for name in $(compgen -e | grep -E '^(SLURM|SBATCH|SALLOC|OMPI|PMI|HYDRA|MPI|JOB_COMPLETION|HQ)_?' || true); do
    unset "$name"
  done
  mkdir "$work/bin"
  write_wrapper
  export PATH=$work/bin:$PATH
}

# need PROGRAM...: exits with 77 and the name of a missing program.
need() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || { echo "SKIPPED: no $program (try --install)"; exit 77; }
  done
}

stop_engine() { :; }  # ends what a script has started, by its process ids
finish() {
  set +e
  stop_engine
  [ -z "$keep" ] || cp -r "$work/." "$keep"
  rm -rf "$work"
}

# The program that examples call. If $work/kill names a shard, that shard's run is killed once, as soon as two of its
# images are done; its caller sees a killed process.
write_wrapper() {
  cat >"$work/bin/imgpipe" <<END_OF_WRAPPER
#!/usr/bin/env bash
report=
for ((i = 1; i < \$#; i++)); do [ "\${!i}" != --report ] || { next=\$((i + 1)) report=\${!next}; }; done
if [[ -e "$work/kill" && \${report##*/} == "\$(cat "$work/kill")"-of-* ]] && mv "$work/kill" "$work/killed" 2>/dev/null
then
  "$imgpipe" "\$@" --jobs 1 &
  # Runs the program for 10 ms at a time, so that it does not finish before its results are counted.
  while kill -CONT \$! && sleep 0.01 && kill -STOP \$!; do
    count=\$(grep -c '"status":"done"' "\$report")
    ((\${count:-0} < 2)) || break
  done 2>/dev/null
  kill -9 \$!
  wait \$!
  cp "\$report" "$work/killed"
  kill -9 \$\$
fi
exec "$imgpipe" "\$@"
END_OF_WRAPPER
  chmod +x "$work/bin/imgpipe"
}

images=32
shards=8
make_images() { # FOLDER
  local i folders=(. north 'south west' north/deep) endings=(png jpg ppm)
  mkdir -p "$1/north/deep" "$1/south west"
  for ((i = 0; i < images; i++)); do echo "$i '${folders[i % 4]}/image $i.${endings[i % 3]}'"; done |
    xargs -P "$(nproc)" -L 1 sh -c '"$0" synth "$1/$3" --pattern photo --size 1000x800 --seed "$2" -q' "$imgpipe" "$1"
}

# The shard with most images, so that some are left when two are done.
largest_shard() {
  local shard
  for ((shard = 1; shard <= shards; shard++)); do
    "$imgpipe" "$work/in" "$work/none" --recursive --format png --shard "$shard/$shards" --dry-run 2>/dev/null |
      sed -n "s#^\([0-9]*\) to do,.*#\1 $shard#p"
  done | sort -n | tail -1
}

# new_case NAME: makes a directory like a user's.
new_case() {
  local folder=$work/$1 file
  mkdir "$folder"
  cp -r "$work/in" "$folder/in"
  for file in "${files[@]}"; do cp "$examples/$file" "$folder"; done
  echo "$folder"
}

failed=0
# expect WHAT EXPECTED FOUND: prints a result, and counts it if it is a failure.
expect() {
  if [ "$2" = "$3" ]; then
    echo "ok: $1: $3"
  else
    failed=$((failed + 1))
    echo "FAILED: $1: $3, and not $2"
  fi
}

# run FOLDER: runs the example there and prints its exit status; messages.txt holds the messages of the last run.
run() {
  local code=0
  (cd "$1" && run_example) >"$1/messages.txt" 2>&1 </dev/null || code=$?
  cat "$1/messages.txt" >>"$1/all_messages.txt"
  echo "$code"
}
zero_or_not() { if [ "$1" = 0 ]; then echo 0; else echo 'not 0'; fi; }
differences() { diff -r "$work/whole" "$1" 2>&1 | wc -l; }
says() {
  if grep -qF "$2" "$1/messages.txt"; then echo yes; else echo "no: $(tail -n 3 "$1/messages.txt" | paste -sd' ')"; fi
}
done_twice() { cat "$1"/reports/*.ndjson | grep -o '"input":"[^"]*",.*"status":"done"' | sort | uniq -d | wc -l; }
state_of() { (cd "$1" && find out reports -type f -printf '%p %i %s %T@\n' | grep -v sums.json | sort | md5sum); }
sums() {
  local code=0
  (cd "$1" && "$imgpipe" report reports/*.ndjson --json sums.json --overwrite -q 2>/dev/null) || code=$?
  echo "$code"
}
sum_of() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1/sums.json" "$2"; }

case_whole() {
  local folder before
  folder=$(new_case whole_case)
  expect 'whole, exit status' 0 "$(run "$folder")"
  expect 'whole, outputs that are not those of one run' 0 "$(differences "$folder/out")"
  expect 'whole, its report counts all' yes \
    "$(says "$folder" "$images images in $shards reports: $images done, 0 skipped, 0 failed, 0 not done")"
  before=$(state_of "$folder")
  expect 'again, exit status' 0 "$(run "$folder")"
  expect 'again, nothing is written' "$before" "$(state_of "$folder")"
}

case_killed() {
  local folder count shard lines
  read -r count shard < <(largest_shard)
  folder=$(new_case killed_case)
  echo "$shard" >"$work/kill"
  expect 'killed, exit status' "${killed_status:-not 0}" "$(zero_or_not "$(run "$folder")")"
  lines=$(wc -l <"$work/killed")
  expect "killed after two of $count or more, and before the last" yes \
    "$(if ((lines >= 2 && lines < count)); then echo yes; else echo "after $lines"; fi)"
  if [ -z "${killed_status:-}" ]; then  # otherwise the engine has already done the rest
    expect 'killed, exit status of the sum' 1 "$(sums "$folder")"
    expect 'killed, images without a line' $((count - lines)) "$(sum_of "$folder" images_without_a_line)"
    expect 'run again, exit status' 0 "$(run "$folder")"
  fi
  expect 'run again, outputs that are not those of one run' 0 "$(differences "$folder/out")"
  expect 'run again, images done twice' 0 "$(done_twice "$folder")"
  expect 'run again, earlier lines are kept' yes \
    "$(head -n "$lines" "$folder/reports/$shard-of-$shards.ndjson" | cmp - "$work/killed" && echo yes)"
  expect 'run again, exit status of the sum' 0 "$(sums "$folder")"
  expect 'run again, done and skipped' "$images" $(($(sum_of "$folder" 'done') + $(sum_of "$folder" skipped)))
}

case_broken() {
  local folder image='in/north/image 1.jpg' output='out/north/image 1.png'
  folder=$(new_case broken_case)
  head -c 3000 "$work/$image" >"$folder/$image"
  expect 'broken, exit status' 'not 0' "$(zero_or_not "$(run "$folder")")"
  expect 'broken, its report says which' yes "$(says "$folder" "$image: JPEG: ")"
  expect 'broken, its report counts' yes "$(says "$folder" "$((images - 1)) done, 0 skipped, 1 failed, 0 not done")"
  expect 'broken, outputs that are missing' 'Only in '"$work/whole/north: image 1.png" \
    "$(diff -r "$work/whole" "$folder/out")"
  cp "$work/$image" "$folder/$image"
  expect 'fixed and run again, exit status' 0 "$(run "$folder")"
  expect 'fixed and run again, outputs that are not those of one run' 0 "$(differences "$folder/out")"
  cmp "$work/whole/${output#out/}" "$folder/$output"
}

run_cases() {
  make_images "$work/in"
  (cd "$work" && "$imgpipe" in whole --recursive --format png -q)
  case_whole
  case_killed
  case_broken
  echo "$engine: $(engine_line), $(date -u +%F)"
  ((!failed)) || { say "$(basename "$0"): $failed checks failed"; exit 1; }
}
