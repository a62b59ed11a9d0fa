"""Batch systems: what they say of a site and of jobs, job scripts, submission."""
