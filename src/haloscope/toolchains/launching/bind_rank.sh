#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: bind_rank.sh CPUS[:CPUS...] PROGRAM [ARGUMENT...]
# Runs PROGRAM on the i-th of the lists of processors, i being this rank's number on its host.
# One script for every MPI library: their own options differ by version, count processors that
# this job may not use, or bind two ranks to one core.
lists=$1
shift
rank=${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-${JSM_NAMESPACE_LOCAL_RANK:-$PALS_LOCAL_RANKID}}}
rank=${rank:-${SLURM_LOCALID:?no rank number from the launcher}}
exec taskset -c "$(echo "$lists" | cut -d: -f$((rank + 1)))" "$@"
