# SPDX-License-Identifier: BSD-3-Clause
"""Sites: clusters with a batch system, as data."""
