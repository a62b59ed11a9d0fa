"""Pure statistics: estimates with their spread, comparisons, and when to stop measuring."""
