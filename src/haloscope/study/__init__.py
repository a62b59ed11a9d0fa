# SPDX-License-Identifier: BSD-3-Clause
"""Studies, their cases, and checks whether these cases can run in a place."""
