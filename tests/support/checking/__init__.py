# SPDX-License-Identifier: BSD-3-Clause
"""What ./check consists of. It needs nothing but Python's standard library: it makes the rest."""
