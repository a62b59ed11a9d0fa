# SPDX-License-Identifier: BSD-3-Clause
"""Predictions: this machine's numbers as a cluster file, and how far simulations are off."""
