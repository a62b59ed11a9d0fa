# SPDX-License-Identifier: BSD-3-Clause
"""Sites: clusters that a batch system gives out, as data."""
