# SPDX-License-Identifier: BSD-3-Clause
"""What this machine has: its processors, caches and memory, read from /proc and /sys."""
