# SPDX-License-Identifier: BSD-3-Clause
"""Commands that list and describe what there is, for people and for programs."""
