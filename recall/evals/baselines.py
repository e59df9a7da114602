"""What finds notes without a model: grep and BM25, for the question whether meaning search earns its place."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from recall.evals.records import Text
from recall.evals.words import keywords, normal, tokens

#: The usual values (Robertson and Zaragoza 2009): how soon more of one word counts no more, how much length matters.
_SATURATION, _LENGTH = 1.2, 0.75


class Baselines:
    """Ranks records for a question. Language versions of one record are one; what shares no word is not found."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._units = [text.unit for text in texts]
        self._wholes = [normal(text.whole) for text in texts]
        counts = [Counter(tokens(text.whole)) for text in texts]
        self._lengths = [counter.total() for counter in counts]
        self._mean_length = sum(self._lengths) / len(counts) if counts else 0.0
        self._postings: dict[str, dict[int, int]] = {}
        for number, counter in enumerate(counts):
            for token, count in counter.items():
                self._postings.setdefault(token, {})[number] = count

    def grep(self, question: str) -> list[str]:
        """Units by how many of the question's keywords the text holds, as a person greps; equals in order of path."""
        words = keywords(question)
        counts = {number: sum(word in whole for word in words) for number, whole in enumerate(self._wholes)}
        return self._ranked(counts)

    def bm25(self, question: str) -> list[str]:
        """Units by BM25 over words, and over pairs of characters where a script has no spaces."""
        scores: dict[int, float] = {}
        number_of_texts = len(self._units)
        for token in set(tokens(question)):
            found = self._postings.get(token, {})
            weight = math.log(1 + (number_of_texts - len(found) + 0.5) / (len(found) + 0.5))
            for number, count in found.items():
                relative = 1 - _LENGTH + _LENGTH * self._lengths[number] / self._mean_length
                share = count * (_SATURATION + 1) / (count + _SATURATION * relative)
                scores[number] = scores.get(number, 0.0) + weight * share
        return self._ranked(scores)

    def _ranked(self, scores: Mapping[int, float]) -> list[str]:
        found = sorted((number for number, score in scores.items() if score > 0), key=lambda n: (-scores[n], n))
        return distinct(self._units[number] for number in found)


def distinct(units: Iterable[str]) -> list[str]:
    """Each unit once, where it stands first."""
    return list(dict.fromkeys(units))
