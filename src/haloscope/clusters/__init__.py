# SPDX-License-Identifier: BSD-3-Clause
"""Clusters as data: their files, what can't be true in one, and how SimGrid is told of them."""
