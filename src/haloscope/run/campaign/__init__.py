# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns: the request for a study, its launches, when they stop, and their continuation."""
