"""Readers of what other systems remember, one file each."""
