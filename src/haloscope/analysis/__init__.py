# SPDX-License-Identifier: BSD-3-Clause
"""What recorded cases say: samples, sweeps, fits, comparisons; data for whoever reports them."""
