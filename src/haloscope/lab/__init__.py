# SPDX-License-Identifier: BSD-3-Clause
"""A cluster in a box: hosts on this machine with a network and a batch system of their own."""
