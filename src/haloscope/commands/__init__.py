"""The subcommands, one module each: `add_parser(subparsers)` and `execute(arguments) -> exit code`."""
