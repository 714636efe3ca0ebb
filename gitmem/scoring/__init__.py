"""Ranking over arrays: the only part of gitmem that works with numpy, and only when something is searched."""
