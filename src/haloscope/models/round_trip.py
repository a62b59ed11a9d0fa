# SPDX-License-Identifier: BSD-3-Clause
"""Times there and back, and one way: messages are timed as the former, models are of the latter."""

ONE_WAY = 0.5
"""ONE_WAY is the share that one way has of a time there and back: both ways are alike."""
