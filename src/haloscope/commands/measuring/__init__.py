# SPDX-License-Identifier: BSD-3-Clause
"""Commands that measure: studies, single cases, and the batch jobs of a result folder."""
