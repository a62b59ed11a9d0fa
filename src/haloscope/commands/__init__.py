# SPDX-License-Identifier: BSD-3-Clause
"""The subcommands, one module each; they share `placeoptions` and `conclusion`.

A command has `set_up(parser)`, which describes it and adds its arguments, and `execute(arguments)`,
which returns the exit code. Its line in `haloscope --help` is in `cli.COMMANDS`.
"""
