# SPDX-License-Identifier: BSD-3-Clause
"""Keys of the objects inside a record."""
