# SPDX-License-Identifier: BSD-3-Clause
"""Tasks on few nodes and on many, which ranks share a node, and weak scaling."""
