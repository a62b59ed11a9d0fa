# SPDX-License-Identifier: BSD-3-Clause
"""Rendering of reports: draws what `document` contains, without computing anything."""
