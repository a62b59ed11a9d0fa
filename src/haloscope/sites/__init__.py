"""Sites: clusters that a batch system gives out, as data."""
