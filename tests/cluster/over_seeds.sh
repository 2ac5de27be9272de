#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# over_seeds.sh FIRST LAST PROGRAM ARGUMENT...: runs a program of tests on simulated machines with these seeds, and
# names the seed of the first run that fails, which repeats it.
first=$1
last=$2
shift 2
export SHOAL_TRANSPORT=sim SHOAL_SIM_JITTER="${SHOAL_SIM_JITTER-1}" SHOAL_LOG="${SHOAL_LOG-warn}"
seed=$first
while [ "$seed" -le "$last" ]; do
  if ! SHOAL_SIM_SEED=$seed "$@"; then
    echo "seed $seed fails; to repeat it:"
    echo "SHOAL_TRANSPORT=sim SHOAL_SIM_JITTER=$SHOAL_SIM_JITTER SHOAL_SIM_SEED=$seed $*"
    exit 1
  fi
  seed=$((seed + 1))
done
echo "seeds $first to $last pass"
