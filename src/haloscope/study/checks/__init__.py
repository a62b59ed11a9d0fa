# SPDX-License-Identifier: BSD-3-Clause
"""Whether the cases of a study can run in a place, and tell something."""
