"""Reports: findings, tables and figures as data, and what draws them."""
