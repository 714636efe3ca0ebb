"""The search index on disk, on tantivy: for homes that outgrow Whoosh.

Each part of the index is a tantivy index of its own, of one segment, that is never written again; gitmem
keeps the list of them, and what of them was removed. tantivy's bindings give neither postings nor counts.
So a term is indexed together with how often the document has it (`port` twice is `port`, U+001F, `2`), and
its postings are the documents of each of its counts, in the order of a number that each document carries.

tantivy reads files through memory maps: whoever shortened one would kill every process that has it open. So a
part lies on disk as one file with a checksum, and is read from a copy that has no name any more.
"""

from __future__ import annotations

from gitmem.backends.tantivy_index.index import TantivyIndex

__all__ = ["TantivyIndex"]
