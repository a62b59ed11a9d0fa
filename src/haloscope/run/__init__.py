"""Measuring: a campaign of launches in one place, and what these need."""
