#!/usr/bin/env bash
# Checks the scripts of examples/cluster/ without their engines: bash parses them, shellcheck (if installed) reports
# nothing, every file explains how to request a GPU, resumes, and writes a report, and repeated numbers agree. A SIGTERM
# to object_store.sh, with stand-ins for rclone and imgpipe, loses no finished output.
#
#   tests/checks/examples.sh     exit 1 and a line for each problem
set -euo pipefail
cd "$(dirname "$0")/../../examples/cluster"
wrong=0
complain() {
  echo "examples: $*"
  wrong=1
}
scripts=(*.sh *.sbatch)
((${#scripts[@]} >= 5)) || complain "only ${scripts[*]} in examples/cluster"
for script in "${scripts[@]}"; do
  bash -n "$script" || complain "$script: bash cannot read it"
  [[ $script == *.sbatch || -x $script ]] || complain "$script: is not executable"
done
if command -v shellcheck >/dev/null; then
  shellcheck "${scripts[@]}" || complain 'shellcheck found something'
else
  echo 'examples: no shellcheck, its part is left out'
fi
for file in array.sbatch kubernetes.yaml Snakefile main.nf parallel.sh hyperqueue.sh; do
  grep -qiE 'gpu' "$file" || complain "$file: does not say how a GPU is asked for"
  grep -q -- '--skip-existing' "$file" || complain "$file: would do again what is done"
  grep -q -- '--report' "$file" || complain "$file: writes no report"
done
# The restricted Pod Security Standard, and a read-only root.
for file in kubernetes*.yaml; do
  for setting in 'runAsNonRoot: true' 'seccompProfile: {type: RuntimeDefault}' 'allowPrivilegeEscalation: false' \
    'capabilities: {drop: [ALL]}' 'readOnlyRootFilesystem: true'; do
    grep -qF "$setting" "$file" || complain "$file: lacks $setting"
  done
done
# Numbers that appear twice in a file must be equal.
pairs() { # FILE FIRST SECOND: expressions of sed that give a number each
  local first second
  first=$(sed -nE "$2" "$1") second=$(sed -nE "$3" "$1")
  [[ -n $first && $first == "$second" ]] || complain "$1: $first and $second parts"
}
pairs array.sbatch 's/^#SBATCH --array=1-([0-9]+)$/\1/p' 's/^shards=([0-9]+) .*/\1/p'
pairs hyperqueue.sh 's/^#HQ --array=1-([0-9]+)$/\1/p' 's/^shards=([0-9]+) .*/\1/p'
pairs kubernetes.yaml 's/^  completions: ([0-9]+) .*/\1/p' 's/.*name: SHARDS, value: "([0-9]+)".*/\1/p'

# The stand-in for imgpipe finishes one image, then waits for SIGTERM, which ends it with a report.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{bin,tmp,bucket/images/in}
touch "$work"/bucket/images/in/{a,b}.png
cat >"$work/bin/rclone" <<'END_OF_RCLONE'
#!/usr/bin/env bash
set -e
at() { case $1 in bucket:*) echo "$BUCKET/${1#bucket:}" ;; *) echo "$1" ;; esac; }
source=$(at "${@: -2:1}") target=$(at "${@: -1}")
case $1 in
  lsf) [ -d "$target" ] || exit 3; find "$target" -type f -printf '%P\n' ;;
  copy) mkdir -p "$target"; cp -r "$source/." "$target" ;;
  copyto) mkdir -p "$(dirname "$target")"; cp "$source" "$target" ;;
esac
END_OF_RCLONE
cat >"$work/bin/imgpipe" <<'END_OF_IMGPIPE'
#!/usr/bin/env bash
case " $* " in *' --dry-run '*) printf 'in/%s -> out/%s\n' a.png a.png b.png b.png; exit ;; esac
trap 'echo done >"${@: -1}"; touch "$BUCKET/../ended"; exit 143' TERM
mkdir out
echo whole >out/a.png
touch "$BUCKET/../begun"
for ((i = 0; i < 200; i++)); do sleep 0.05; done
END_OF_IMGPIPE
chmod +x "$work"/bin/*
PATH=$work/bin:$PATH BUCKET=$work/bucket TMPDIR=$work/tmp ./object_store.sh 1/1 &
for ((i = 0; i < 200; i++)); do [ ! -e "$work/begun" ] || break; sleep 0.05; done
kill -TERM $!
code=0
wait $! || code=$?
((code == 143)) || complain "object_store.sh: exit $code after SIGTERM, not 143"
[ -e "$work/ended" ] || complain 'object_store.sh: imgpipe did not get SIGTERM, or was not waited for'
[ "$(cat "$work/bucket/images/out/a.png")" = whole ] || complain 'object_store.sh: a finished output is lost'
grep -qx 'done' "$work"/bucket/images/reports/*.ndjson || complain 'object_store.sh: the report is lost'
[ -z "$(ls "$work/tmp")" ] || complain "object_store.sh: leaves $(ls "$work/tmp")"
((!wrong)) && echo "examples: ${#scripts[@]} scripts and 3 workflows are in order"
exit "$wrong"
