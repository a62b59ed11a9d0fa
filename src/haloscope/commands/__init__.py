# SPDX-License-Identifier: BSD-3-Clause
"""The subcommands, one module each, by what they are for; they share the modules beside the rooms.

A command has `set_up(parser)`, which describes it and adds its arguments, and `execute(arguments)`,
which returns the exit code. Its line in `haloscope --help` is in `cli.COMMANDS`.
"""
