# SPDX-License-Identifier: BSD-3-Clause
"""How reports look: draws what `document` put together, and computes nothing itself."""
