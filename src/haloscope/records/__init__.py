# SPDX-License-Identifier: BSD-3-Clause
"""What lies on disk between running and reporting: records, and the folder that they stand in."""
