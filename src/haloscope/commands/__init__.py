"""The subcommands, one module each.

Every module has `add_parser(subparsers)` and `execute(arguments)`, which returns the exit code.
"""
