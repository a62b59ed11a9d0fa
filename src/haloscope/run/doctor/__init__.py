# SPDX-License-Identifier: BSD-3-Clause
"""Checks of this machine: causes of disturbed measurements and of failed runs."""
