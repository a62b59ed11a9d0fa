# SPDX-License-Identifier: BSD-3-Clause
# usage: unshare ... sh host.sh NAME HOSTS MARK
# The first process of a host of the lab, which all others there hang on: its name, its
# /etc/hosts, /proc, /sys and shared memory; then it waits for whatever ends, until it is killed.
set -e
hostname "$1"
mount -t sysfs sysfs /sys
mount -t tmpfs -o size=50% tmpfs /dev/shm
mount --bind "$2" /etc/hosts
echo ready
exec >/dev/null 2>&1
while :; do  # a sleep that somebody kills is begun again
  sleep 2147483647 &
  wait $! || true
done
