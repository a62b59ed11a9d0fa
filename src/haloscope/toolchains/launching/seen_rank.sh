#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: seen_rank.sh FOLDER [VARIABLE=TEXT...] -- PROGRAM [ARGUMENT...]
# Notes in FOLDER/seen.RANK which rank this is, its host and the processors that it may run on, as
# Linux tells them, and becomes PROGRAM in FOLDER/run. A program that is not ours does not say where
# it runs; what it becomes keeps host and processors. No process is started: shell words alone.
folder=$1
shift
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${PMIX_RANK:-${SLURM_PROCID:?no rank number from the launcher}}}}
while read -r key value; do
    [ "$key" = Cpus_allowed_list: ] && break
done </proc/self/status
read -r host </proc/sys/kernel/hostname
echo "$rank $host $value" >"$folder/seen.$rank"
while [ "$1" != -- ]; do
    export "$1"
    shift
done
shift
cd "$folder/run" || exit 1
exec "$@"
