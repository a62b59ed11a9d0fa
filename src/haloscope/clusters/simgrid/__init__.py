# SPDX-License-Identifier: BSD-3-Clause
"""A cluster file as SimGrid takes it."""
