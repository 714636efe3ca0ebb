"""One file for each library that gitmem stands on."""
