# Starts a Slurm on this machine for slurm.sh: munged, slurmctld and slurmd, with all their files in our directory.

# wait_for SECONDS COMMAND...: waits until the command succeeds; false after that time.
wait_for() {
  local until=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS <= until)) || return 1
    sleep 0.2
  done
}

daemons=()  # their process ids; only these processes are ended

# start_daemon LOG COMMAND...: starts a daemon that stays in the foreground, so that its process id is known.
start_daemon() {
  local log=$1
  shift
  "$@" >"$log.out" 2>&1 &
  daemons+=($!)
}

# Prints a free port, at or after the given one.
free_port() {
  local port=$1
  while (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
  echo "$port"
}

# write_slurm_conf FOLDER TRACKING TASKS CPUS: TRACKING and TASKS are the types of proctrack and task. The node claims
# more processors than it may have (config_overrides), so that steps of four tasks run on two; tasks are not bound to
# processors. cred_expire is also the delay of a requeued job, KillWait the time that a job has to end.
write_slurm_conf() {
  local folder=$1 host memory
  host=$(hostname -s)
  memory=$(($(awk '/^MemTotal/ { print $2 }' /proc/meminfo) / 1024 * 9 / 10))
  mkdir -p "$folder/state" "$folder/spool"
  cat >"$folder/slurm.conf" <<END_OF_CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port $((20000 + $$ % 10000)))
SlurmdPort=$(free_port $((30000 + $$ % 10000)))
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/$2
TaskPlugin=task/$3
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
MpiDefault=none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MinJobAge=300
DefMemPerCPU=$((memory / $4))
NodeName=$host NodeAddr=127.0.0.1 CPUs=$4 RealMemory=$memory State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=10 State=UP
END_OF_CONF
}

# IgnoreSystemd is needed for version 2 of control groups.
write_cgroup_conf() {
  cat >"$1/cgroup.conf" <<END_OF_CONF
CgroupAutomount=no
IgnoreSystemd=yes
ConstrainRAMSpace=yes
ConstrainSwapSpace=yes
AllowedSwapSpace=0
END_OF_CONF
}

# start_slurm FOLDER: false, with the ends of the logs on stderr, if the node is not idle within 30 seconds.
start_slurm() {
  local folder=$1
  (umask 077 && head -c 128 /dev/urandom >"$folder/munge.key")
  start_daemon "$folder/munged" munged --foreground --force --socket "$folder/munge.socket" \
    --key-file "$folder/munge.key" --seed-file "$folder/munged.seed" \
    --pid-file "$folder/munged.pid" --log-file "$folder/munged.log"
  export SLURM_CONF=$folder/slurm.conf
  wait_for 10 munge_answers "$folder/munge.socket" || true
  start_daemon "$folder/slurmctld" slurmctld -D -f "$folder/slurm.conf"
  start_daemon "$folder/slurmd" slurmd -D -f "$folder/slurm.conf"
  wait_for 30 node_is_idle && return 0
  say "slurm.sh: the node is not idle but '$(sinfo -h -o '%T %E' 2>&1 | tail -1)'"
  tail -n 5 "$folder"/*.log "$folder"/*.out >&2
  return 1
}

munge_answers() { munge -n -S "$1" >/dev/null 2>&1; }
node_is_idle() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }
no_jobs() { [ -z "$(squeue -h 2>/dev/null)" ]; }

# Ends the jobs first, then our daemons, the last one first.
stop_slurm() {
  ((${#daemons[@]})) || return 0
  local i
  squeue -h -o %A 2>/dev/null | xargs -r scancel 2>/dev/null || true
  wait_for 10 no_jobs || true
  for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do
    kill "${daemons[i]}" 2>/dev/null || true
    wait "${daemons[i]}" 2>/dev/null || true
  done
  daemons=()
}
