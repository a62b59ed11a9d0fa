# SPDX-License-Identifier: BSD-3-Clause
"""Commands on machines: this one, clusters, sites, MPI libraries, and their programs."""
