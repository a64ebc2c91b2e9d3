#!/usr/bin/env bash
# Runs all parts of examples/cluster/object_store.sh one after the other, with a local S3 server (moto) and rclone: the
# cases of cluster_cases.sh, and the contents of the bucket.
#
#   tests/peers/cluster_object_store.sh [--install] [--keep FOLDER] IMGPIPE
#
# --install installs rclone (Debian, Ubuntu) and, from PyPI into a virtual environment for this run, moto. Exits with 77
# if one is missing. The server listens on 127.0.0.1, and is ended by its process id.
set -euo pipefail
. "$(dirname "$0")/cluster_cases.sh"
engine=rclone
files=(object_store.sh)
begin "$@"
if ((install)); then
  install_peers rclone python3-venv
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install -q 'moto[server]'
  PATH=$PATH:$work/venv/bin
fi
need rclone moto_server
moto_server --help >/dev/null 2>&1 || { echo 'SKIPPED: moto_server does not start (try --install)'; exit 77; }
engine_line() { rclone version | sed 1q; }
# Only the configuration below may define the bucket.
for name in $(compgen -e | grep -E '^(AWS|RCLONE)_' || true); do unset "$name"; done

# A free port.
port=$((21000 + $$ % 10000))
while (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
moto_server -H 127.0.0.1 -p "$port" >"$work/server.txt" 2>&1 &
server=$!
stop_engine() { kill "$server" && wait "$server"; }
for ((i = 0; i < 300; i++)); do
  ! (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  sleep 0.1
done
export RCLONE_CONFIG=$work/rclone.conf
cat >"$RCLONE_CONFIG" <<END_OF_CONF
[bucket]
type = s3
provider = Other
access_key_id = key
secret_access_key = secret
region = us-east-1
endpoint = http://127.0.0.1:$port
force_path_style = true
END_OF_CONF

# Copies the case's in/ to the bucket, and its outputs and reports back for inspection.
run_example() {
  local code=0 shard bucket
  bucket=images-$(basename "$PWD" | tr _ -)
  rclone mkdir "bucket:$bucket"
  rclone sync in "bucket:$bucket/in"
  sed -i "s#bucket:images/#bucket:$bucket/#; s/^at_once=500/at_once=3/; s/jpeg,png/jpeg,png,ppm/" object_store.sh
  for ((shard = 1; shard <= shards; shard++)); do ./object_store.sh "$shard/$shards" || code=$?; done
  rclone sync "bucket:$bucket/out" out
  rclone sync "bucket:$bucket/reports" reports
  imgpipe report reports/*.ndjson || code=$?
  return "$code"
}
make_images "$work/in"
(cd "$work" && "$imgpipe" in whole --recursive --format png -q)

folder=$(new_case whole_case)
expect 'whole, exit status' 0 "$(run "$folder")"
expect 'whole, outputs that are not those of one run' 0 "$(differences "$folder/out")"
expect 'whole, its report counts all' yes "$(says "$folder" ": $images done, 0 skipped, 0 failed, 0 not done")"
before=$(state_of "$folder")
expect 'again, exit status' 0 "$(run "$folder")"
expect 'again, nothing is written' "$before" "$(state_of "$folder")"

# A part is killed with its first images done but not yet copied: these are processed again, the others are not touched.
folder=$(new_case killed_case)
read -r count shard < <(largest_shard)
echo "$shard" >"$work/kill"
expect 'killed, exit status' 'not 0' "$(zero_or_not "$(run "$folder")")"
expect "killed, the part's outputs in the bucket" $((images - count)) "$(find "$folder/out" -type f | wc -l)"
expect 'run again, exit status' 0 "$(run "$folder")"
expect 'run again, outputs that are not those of one run' 0 "$(differences "$folder/out")"
case_broken
expect 'temporary files in the bucket' 0 "$(rclone lsf --recursive bucket: | grep -c imgpipe-)"
echo "$engine: $(engine_line), $(date -u +%F)"
((!failed)) || { say "cluster_object_store.sh: $failed checks failed"; exit 1; }
