# SPDX-License-Identifier: BSD-3-Clause
"""The hardware of this machine: processors, caches, and memory, read from /proc and /sys."""
