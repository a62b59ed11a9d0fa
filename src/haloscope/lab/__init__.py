# SPDX-License-Identifier: BSD-3-Clause
"""A test cluster on this machine: hosts with their own network and batch system."""
