"""Clusters as data: their files, what can't be true in one, and how SimGrid is told of them."""
