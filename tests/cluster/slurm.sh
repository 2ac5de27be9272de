#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command where srun works: a Slurm of its own, with this machine as its only node, for as long as the command
# takes. Needs root and Debian's packages slurm-wlm, munge and libpmi2-0; elsewhere it says that it skips, and ends with
# status 77.
#   tests/cluster/slurm.sh COMMAND [ARGUMENTS]     SLURM_CONF is in its environment
set -euo pipefail

skip() { printf 'slurm.sh: skipped: %s\n' "$*" >&2; exit 77; }
fail() {
  printf 'slurm.sh: %s\n' "$*" >&2
  tail -n 20 "$folder"/*.log >&2 || true
  exit 1
}

(($#)) || { printf 'usage: %s COMMAND [ARGUMENTS]\n' "$0" >&2; exit 2; }
((EUID == 0)) || skip "only root can start Slurm's programs"
for program in munged slurmctld slurmd srun; do
  command -v "$program" >/dev/null || skip "there is no $program (Debian: slurm-wlm, munge)"
done

folder=$(mktemp -d /tmp/shoal-slurm-XXXXXX)
daemons=()
# shellcheck disable=SC2317  # the trap calls it
finish() {
  local i pid
  # Only what was started here; the last one first, while those that it talks to are still there.
  for ((i = ${#daemons[@]} - 1; i >= 0; --i)); do
    pid=${daemons[i]}
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null || true  # slurmd may wait for a step that nobody ends
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$folder"
}
trap finish EXIT

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# munged wants its key to itself, and its socket where all may enter.
chmod 755 "$folder"
dd if=/dev/urandom of="$folder/munge.key" bs=1 count=128 2>/dev/null
chmod 400 "$folder/munge.key"
munged --foreground --force --socket "$folder/munge" --key-file "$folder/munge.key" --pid-file "$folder/munge.pid" \
  --log-file "$folder/munged.log" --seed-file "$folder/munge.seed" >"$folder/munged.out.log" 2>&1 &
daemons+=($!)

host=$(hostname -s)
mkdir "$folder/state" "$folder/spool"
cat >"$folder/slurm.conf" <<CONF
ClusterName=shoal
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE
CONF
export SLURM_CONF=$folder/slurm.conf

for _ in $(seq 100); do [[ -S $folder/munge ]] && break; sleep 0.1; done
[[ -S $folder/munge ]] || fail "munged did not start"
slurmctld -D >"$folder/slurmctld.out.log" 2>&1 &
daemons+=($!)
slurmd -D -N "$host" >"$folder/slurmd.out.log" 2>&1 &
daemons+=($!)
for _ in $(seq 300); do
  [[ "$(sinfo -h -o %T 2>/dev/null || true)" == idle ]] && break
  sleep 0.1
done
[[ "$(sinfo -h -o %T 2>/dev/null || true)" == idle ]] || fail "the node did not come up"

status=0
"$@" || status=$?
exit "$status"
