"""What this machine has: its processors, caches and memory, read from /proc and /sys."""
