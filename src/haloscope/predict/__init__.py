# SPDX-License-Identifier: BSD-3-Clause
"""Predictions: calibration of this machine as a cluster file, and errors of simulations."""
