# SPDX-License-Identifier: BSD-3-Clause
"""Messages between two processes: ping-pong, fitted models, libraries and transports."""
