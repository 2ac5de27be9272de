#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# over_seeds.sh FIRST LAST PROGRAM ARGUMENT...: runs a program of tests on simulated machines with these seeds, and
# names the seed of the first run that fails, which repeats it.
first=$1
last=$2
shift 2
# Every second seed has faults as well.
export SHOAL_TRANSPORT=sim SHOAL_SIM_JITTER="${SHOAL_SIM_JITTER-1}" SHOAL_LOG="${SHOAL_LOG-warn}"
chosen=${SHOAL_SIM_FAULTS-}
seed=$first
while [ "$seed" -le "$last" ]; do
  faults=$chosen
  if [ -z "$faults" ] && [ $((seed % 2)) -eq 0 ]; then faults='random(8,2ms)'; fi
  if ! SHOAL_SIM_SEED=$seed SHOAL_SIM_FAULTS=$faults "$@"; then
    echo "seed $seed fails; to repeat it:"
    echo "SHOAL_TRANSPORT=sim SHOAL_SIM_JITTER=$SHOAL_SIM_JITTER SHOAL_SIM_FAULTS='$faults' SHOAL_SIM_SEED=$seed $*"
    exit 1
  fi
  seed=$((seed + 1))
done
echo "seeds $first to $last pass"
