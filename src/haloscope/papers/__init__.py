"""Published tables: papers as CSV files, read and checked by what paper.toml says of them."""
