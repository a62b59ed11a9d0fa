# SPDX-License-Identifier: BSD-3-Clause
"""What is asked: studies, the cases they become, and whether these can run."""
