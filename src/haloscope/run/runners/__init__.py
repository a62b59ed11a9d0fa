"""Runners: each takes launches to a place where they run, and brings back their records."""
