# SPDX-License-Identifier: BSD-3-Clause
"""Tasks on few and many nodes, mappings of ranks to nodes, and weak scaling."""
