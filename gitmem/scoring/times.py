"""What a document gains by standing in a time that the question names."""

from __future__ import annotations

import numpy as np

from gitmem.asked_dates import DAYS_AFTER, AskedDate
from gitmem.question import Question
from gitmem.scoring.corpus import Corpus
from gitmem.scoring.part_arrays import Floats
from gitmem.scoring.wanted import rarity

_DAY: int = 86400


def time_scores(corpus: Corpus, question: Question) -> Floats | None:
    """Return what each document gains, more where few stand in the time asked for; shape (documents,).

    None where the question names no time.
    """
    if question.dates is None or not corpus.recipe.day or not corpus.count:
        return None
    gained = np.zeros(corpus.size)
    seconds = corpus.seconds
    times = seconds[corpus.live]
    for asked in question.dates.intervals(float(times.min()), float(times.max())):
        np.maximum(gained, _closeness(asked, seconds), out=gained)
    gained[~corpus.live] = 0.0
    inside = int(np.count_nonzero(gained == 1.0))
    return np.asarray(corpus.recipe.day * rarity(corpus.count, inside) * gained)


def _closeness(asked: AskedDate, seconds: Floats) -> Floats:
    """Return `AskedDate.closeness` of each of several times."""
    close = np.zeros(len(seconds))
    close[(seconds >= asked.start) & (seconds < asked.end)] = 1.0
    for day in range(DAYS_AFTER):
        begin = asked.end + day * _DAY
        after = asked.closeness(begin)
        if after:
            close[(seconds >= begin) & (seconds < begin + _DAY)] = after
    return close
