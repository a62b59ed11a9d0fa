# SPDX-License-Identifier: BSD-3-Clause
"""What is added beside the system's packages, without root."""
