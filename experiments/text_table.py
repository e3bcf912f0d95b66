"""What questions in words give away without a network: the most frequent derivation for these words.

The tables read what the networks with operations read: the words, the numbers in order, the operations. What an
operation is for is not told.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from text_models import CONSTANTS, OPERATIONS, TRUTH, Row, Written, steps_of, words_and_numbers

from adelic.integrations.transformers import find_numbers
from adelic.integrations.transformers.scratchpads import in_place
from adelic.nn.heads.exact import Choice, choice_text, choice_value

WHOLE = ("gcd", "lcm", "%", "//", "divides")
"""Operations on integers alone."""


Template = Choice | str
"""A derivation without its numbers, or an answer as it is.

The places of a derivation are those of the question's numbers from 0 on; -1 is the last constant, as in Python's lists.
"""
_CONSTANTS = [Fraction(constant) for constant in CONSTANTS]


def value_of(choice: Choice, numbers: Sequence[Fraction]) -> Fraction | None:
    """Return what an operation makes of numbers, None where it is not defined.

    >>> value_of(("gcd", 0, 1), [Fraction(6), Fraction(4)]), value_of(("gcd", 0, 1), [Fraction(1, 2), Fraction(4)])
    (Fraction(2, 1), None)
    """
    name, *places = choice
    if name in WHOLE and any(numbers[at].denominator != 1 for at in places):
        return None
    try:
        found: Fraction = choice_value(choice, numbers)
    except ZeroDivisionError:
        return None
    return found


def derivations(n: int) -> Iterator[Choice]:
    """Yield all derivations from so many numbers and the constants.

    >>> [choice for choice in derivations(2) if choice[0] in ("copy", "gcd")][:5]
    [('copy', 0), ('copy', 1), ('copy', -1), ('gcd', 0, 1), ('gcd', 0, -1)]
    """
    places = [*range(n), *range(-len(CONSTANTS), 0)]
    yield from (("copy", place) for place in places)
    yield from ((name, i, j) for i, j in permutations(places, 2) if i >= 0 or j >= 0 for name in OPERATIONS)


def parted(text: str) -> tuple[str, list[Fraction]]:
    """Return the words of a text, with # for numbers, and the numbers.

    >>> parted("What is 1.5 - 2?")
    ('What is # - # ?', [Fraction(3, 2), Fraction(2, 1)])
    """
    parts = words_and_numbers(text)
    words = " ".join(word if value is None else "#" for word, value in parts)
    return words, [value for _, value in parts if value is not None]


class Table:
    """For each wording, the template that explains most of its training answers; naive Bayes for other wordings."""

    told = f"where numbers are, and {len(OPERATIONS)} operations, the constant 2"

    def __init__(self, rows: Sequence[Row]) -> None:
        counts: dict[str, Counter[Template]] = defaultdict(Counter)
        times: Counter[str] = Counter()
        for question, answer in rows:
            words, numbers = parted(question)
            times[words] += 1
            answer = TRUTH.get(answer, answer)
            _, wanted = parted(answer)
            if len(wanted) == 1:
                known = [*numbers, *_CONSTANTS]
                counts[words].update(one for one in derivations(len(numbers)) if value_of(one, known) == wanted[0])
            counts[words][answer] += 1
        self.best = {words: found.most_common(1)[0][0] for words, found in counts.items()}
        self.vectorizer = CountVectorizer(token_pattern=r"\S+")
        wordings = list(self.best)
        self.templates = list(dict.fromkeys(self.best.values()))
        self.bayes = MultinomialNB().fit(
            self.vectorizer.fit_transform(wordings),
            [self.templates.index(self.best[words]) for words in wordings],
            sample_weight=[times[words] for words in wordings],
        )

    def write(self, questions: Sequence[str]) -> Written:
        """Return the answers to questions, and their derivations."""
        read = [parted(question) for question in questions]
        unknown = sorted({words for words, _ in read} - self.best.keys())
        guessed = self.bayes.predict(self.vectorizer.transform(unknown)) if unknown else []
        best = self.best | {words: self.templates[k] for words, k in zip(unknown, guessed, strict=True)}
        return [applied(best[words], numbers) for words, numbers in read]


class TableInSteps:
    """For an operation between two neighbouring numbers, how often it is the next step, by the words around them.

    Learned from what `Rewrite` learns: the result of a step, not which numbers it is of. Told is that these are
    neighbours. Questions that are no expression have no answer.
    """

    told = f"where numbers are, {len(OPERATIONS)} operations on neighbours, the steps of expressions"

    def __init__(self, rows: Sequence[Row]) -> None:
        rng = np.random.default_rng(0)
        tried: Counter[tuple[Around, str]] = Counter()
        right: Counter[tuple[Around, str]] = Counter()
        for question, answer in rows:
            steps = steps_of(question, rng)
            if steps and steps[-1]["completion"].strip() == answer:
                for step in steps[:-1]:
                    wanted = Fraction(step["completion"].strip())
                    for around, a, b in neighbours(step["prompt"]):
                        tried.update((around, name) for name in OPERATIONS)
                        right.update((around, name) for name in OPERATIONS if value_of((name, 0, 1), (a, b)) == wanted)
        self.share = {key: n / tried[key] for key, n in right.items()}

    def write(self, questions: Sequence[str]) -> Written:
        """Return the answers to questions, and the derivation of each step."""
        steps = [steps_of(question) for question in questions]
        return [self._computed(one[0]["prompt"]) if one else ("", None) for one in steps]

    def _computed(self, text: str) -> tuple[str, str | None]:
        said = []
        while len(found := find_numbers(text)) > 1:
            pairs = [
                (self.share.get((around, name), 0.0), -k, name, a, b)
                for k, (around, a, b) in enumerate(neighbours(text))
                for name in OPERATIONS
            ]
            _, k, name, a, b = max(pairs)
            value = value_of((name, 0, 1), (a, b))
            if value is None:
                return "", "; ".join(said)
            said.append(choice_text((name, 0, 1), [a, b]))
            text = in_place(text, found[-k].start, found[1 - k].end, str(value))
        return str(found[0].value), "; ".join(said)


Around = tuple[str, ...]
"""The words between two numbers, and one on either side."""


def neighbours(text: str) -> Iterator[tuple[Around, Fraction, Fraction]]:
    """Yield the words around each number and the next one, and the two.

    >>> [around for around, _, _ in neighbours("2 * ( 3 - 4 ) =")]
    [('', '*', '(', '-'), ('(', '-', ')')]
    """
    parts = [("", None), *words_and_numbers(text), ("", None)]
    words = [word if value is None else "#" for word, value in parts]
    numbers = [(k, value) for k, (_, value) in enumerate(parts) if value is not None]
    for (i, a), (j, b) in pairwise(numbers):
        yield (words[i - 1], *words[i + 1 : j], words[j + 1]), a, b


def applied(template: Template, numbers: Sequence[Fraction]) -> tuple[str, str | None]:
    """Return what a template makes of numbers, and how; nothing if there are too few of them, or no such value.

    >>> numbers = [Fraction(4), Fraction(6)]
    >>> applied(("/", 1, 0), numbers), applied(("*", 1, -1), numbers), applied(("/", 1, 2), numbers), applied("7", [])
    (('3/2', '6 ÷ 4'), ('12', '6 × 2'), ('', None), ('7', None))
    """
    if isinstance(template, str):
        return template, None
    known = [*numbers, *_CONSTANTS]
    value = value_of(template, known) if max(template[1:]) < len(numbers) else None
    return ("", None) if value is None else (str(value), choice_text(template, known))


TABLES = {"table": Table, "table-in-steps": TableInSteps}
"""By name: what makes a model without a network of training questions."""
