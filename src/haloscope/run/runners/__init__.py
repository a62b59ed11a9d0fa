"""Runners: each takes jobs to a place where they run, and brings back their records."""
