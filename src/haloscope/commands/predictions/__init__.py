# SPDX-License-Identifier: BSD-3-Clause
"""Commands that predict: layouts to request, and published tables beside simulations."""
