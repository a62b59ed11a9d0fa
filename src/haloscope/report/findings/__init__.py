"""Headlines: what the cases of a report say, in sentences, each with its numbers."""
