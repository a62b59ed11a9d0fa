# SPDX-License-Identifier: BSD-3-Clause
"""Software that is added without root, besides the system's packages."""
