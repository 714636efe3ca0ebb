"""The word lists of the search: irregular forms, and words that carry no content in a question."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class WordLists:
    """The lists that are shipped beside this file.

    Attributes:
        irregular: English forms and what they are forms of.
        stop: English words without content in a question.
        run_breaks: matches what has none in Chinese.
    """

    irregular: Mapping[str, str]
    stop: frozenset[str]
    run_breaks: re.Pattern[str]


@lru_cache(maxsize=1)
def word_lists() -> WordLists:
    """Return the word lists."""
    data = json.loads(Path(__file__).with_name("words.json").read_bytes())
    breaks = sorted(data["chinese_question_words"], key=len, reverse=True)
    return WordLists(
        irregular=data["irregular_forms"],
        stop=frozenset(data["question_words"]) | frozenset(data["function_words"]),
        run_breaks=re.compile(f"{'|'.join(breaks)}|[{''.join(data['chinese_stop_characters'])}]"),
    )
