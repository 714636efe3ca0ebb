"""The search index on disk, on Whoosh.

Whoosh brings segments, their files, the table of contents and the writer. gitmem hands over term counts that
are already made, keeps no positions, and reads postings as arrays. A document's numbers and its JSON stand in
columns.

Whoosh's files hold pickles, so three things guard them: the folder is private to this user; every unpickling
goes through a reader that knows two harmless classes and nothing else; what cannot be read is thrown away.
"""

from __future__ import annotations

from gitmem.backends.whoosh_index.index import WhooshIndex

__all__ = ["WhooshIndex"]
