"""AOE in, AOE out, for expressions: an operation is a small network a place, and one acts on what another has said.

So are programs, in which a value is used more than once: recurrences, linear systems.
"""

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from adelic.data.drawn import REFERENCE, Answers, Operands, SampledTask
from adelic.errors import EncodingError
from adelic.nn import AdelicLoss, AdelicPrediction, PlaceEmbedding, PlacewiseMLP
from adelic.nn.heads.adelic import adelic_targets
from adelic.nn.placewise import N_CHARACTERS
from adelic.numbers import RedundantResidueCode
from adelic_lab.models.solvers.base import Schedule, Solver, learned
from adelic_lab.models.solvers.placewise import HIDDEN, PlacewiseNetwork, PlacewiseSolver, without_padding
from adelic_lab.models.solvers.trivial import ResidueTable, decoded_digits

Call = tuple[int, torch.Tensor, torch.Tensor, torch.Tensor]
_WRONG, _BY_CHANCE = 0.2, 1000
_SHARPER = 5.0
"""How much faster the logarithm of a gain is learned than other weights: digits of large primes are close together."""


class ExpressionNetwork(PlacewiseNetwork):
    """A place-wise network for each operator, which the operators of an expression in postfix call in their order.

    What an operator does is learned, at each place; that it takes the two values before it and leaves one is built in.
    A value is what a place has so far, as the mean of its possible digits' features.

    Shape: as `PlacewiseNetwork`; an operand whose real value is −k calls the k-th network.

    Args:
        embedding: the features of the places.
        operators: how many there are.
        answer_scale: unit of the answers' real values.
    """

    def __init__(self, embedding: PlaceEmbedding, operators: int, *, answer_scale: float) -> None:
        super().__init__(embedding, 2, answer_scale=answer_scale)
        del self.perceptron
        self.perceptrons = nn.ModuleList(
            PlacewiseMLP(embedding.n_places, 2 * embedding.width, HIDDEN, N_CHARACTERS) for _ in range(operators)
        )
        self.gains = nn.Parameter(torch.zeros(operators, embedding.n_places, 1))
        self.loss = AdelicLoss(embedding.space, real_weight=0.0)

    def forward(self, real: torch.Tensor, digits: torch.Tensor, lengths: torch.Tensor) -> AdelicPrediction:
        """Return the prediction."""
        longest = int(lengths.max())
        real, digits = real[:, :longest], digits[:, :longest]
        values = list(self.embedding((real, digits)).unbind(dim=1))
        logits = torch.zeros(len(real), *self.head.is_no_digit.expand(-1, 1, -1).shape)
        logits = logits + 0.0 * self.gains.sum()  # so that there is a gradient, 0, where nothing is called
        values.append(  # an unknown value: all digits alike
            self._mean_features(AdelicPrediction(real[:, 0], logits.masked_fill(self.head.is_no_digit, -torch.inf)))
        )
        for column, called, left, right in self.calls(real):
            for k, (perceptron, gain) in enumerate(zip(self.perceptrons, self.gains, strict=True), start=1):
                rows = (called == k).nonzero()[:, 0]
                if not len(rows):
                    continue
                read = torch.cat([_of_columns(values, rows, columns[rows]) for columns in (left, right)], dim=-1)
                prediction = self.head((_SHARPER * gain).exp() * perceptron(read))
                # Not in place, which autograd refuses on what `unbind` returns.
                values[column] = values[column].index_copy(0, rows, self._mean_features(prediction))
                logits = logits.index_copy(0, rows, prediction.logits)  # that of a question's last operator stays
        return AdelicPrediction(torch.zeros(len(real)), logits)

    def calls(self, tokens: torch.Tensor) -> Iterator[Call]:
        """Yield a column, which network each row calls there (the k-th; none for others), and its values' columns."""
        for column, left, right in calls(tokens, len(self.perceptrons)):
            yield column, -tokens[:, column], left, right


def _of_columns(values: list[torch.Tensor], rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Return for each of some rows the value in a column, (rows, n_places, width)."""
    found = values[0][rows]
    for column in sorted(set(columns.tolist())):
        mine = (columns == column).nonzero()[:, 0]
        found = found.index_copy(0, mine, values[column][rows[mine]])
    return found


def calls(tokens: torch.Tensor, operators: int = REFERENCE - 1) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
    """Yield the columns with operators, and for each row the columns of the values that its operator takes, int64 (n,).

    Tokens are expressions in postfix, (n, columns): operands above 0, operators below, then zeros; −100 − k is a
    reference to the value k columns before. A row that is not such an expression is an EncodingError.

    >>> [(column, int(left), int(right)) for column, left, right in calls(torch.tensor([[7, 8, 9, -1, -2, 0]]))]
    [(3, 1, 2), (4, 0, 3)]
    >>> [(column, int(left), int(right)) for column, left, right in calls(torch.tensor([[7, 8, -1, -102, -3]]))]
    [(2, 0, 1), (4, 2, 1)]
    """
    tokens = tokens.long()
    n, columns = tokens.shape
    rows = torch.arange(n)
    stack, height = torch.zeros(n, columns + 1, dtype=torch.int64), torch.zeros(n, dtype=torch.int64)
    origins = torch.zeros(n, columns, dtype=torch.int64)  # the column whose value a column has
    for column in range(columns):
        here = tokens[:, column]
        is_operator, is_reference = (here < 0) & (here >= -operators), here < -REFERENCE
        _check(here, height, column, operators)
        if is_operator.any():
            yield column, stack[rows, (height - 2).clamp(min=0)], stack[rows, (height - 1).clamp(min=0)]
        height = height - 2 * is_operator
        back = torch.where(is_reference, -REFERENCE - here, 0)
        origins[:, column] = torch.where(is_reference, origins[rows, column - back], column)
        is_value = here != 0
        stack[rows[is_value], height[is_value]] = origins[is_value, column]
        height = height + is_value


def _check(here: torch.Tensor, height: torch.Tensor, column: int, operators: int) -> None:
    """Raise an error if a token does not fit what is before it."""
    is_operator = (here < 0) & (here >= -operators)
    for is_wrong, why in (
        (is_operator & (height < 2), "takes two values, and there are not two before it"),
        ((here < -operators) & (here >= -REFERENCE), f"is not an operation; there are {operators}, from -1 down"),
        (here < -REFERENCE - column, "refers to what is before the first column"),
    ):
        if is_wrong.any():
            row = int(is_wrong.nonzero()[0, 0])
            raise EncodingError(f"{int(here[row])} in column {column} of question {row} {why}")


class Program(PlacewiseSolver):
    """The place-wise solver for expressions: first digits at many primes, and at each a network for each operator.

    It is trained on the shortest expressions of the examples, and asked all. Where digits are near a number that may
    be there by chance, as beyond the bounds of the space, it gives no answer.
    """

    features = ("characters",)
    mended = 10**12
    rows_at_once = 500
    is_cautious = True
    """Whether answers that may be chance are left out."""

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return None for expressions."""
        return None if problem.operators and not problem.is_infix else "its questions are not expressions in postfix"

    def _around(self, embedding: PlaceEmbedding, arity: int, *, answer_scale: float) -> PlacewiseNetwork:
        return ExpressionNetwork(embedding, self._problem.operators, answer_scale=answer_scale)

    def _decoded(self, logits: torch.Tensor) -> Answers:
        problem = self._problem
        code = RedundantResidueCode(self._space, problem.max_numerator, problem.max_denominator)
        found = code.decode_soft(logits.float().log_softmax(dim=-1).numpy())
        if self.is_cautious:
            found.values[could_be_chance(code, found.errors)] = None
        return found.values

    def _lessons(self, rows: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return rows[lengths[rows] == lengths[rows].min()]


def could_be_chance(code: RedundantResidueCode, errors: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which decoded numbers may be near their word by chance, since too many places were mended, bool (n,).

    Let L be the probability of a word's digits if a place is wrong one time in five, and then any other digit. Summed
    over all M words it is 1, so L ≥ 1000·K/M holds for M/(1000·K) words at most, near each of K numbers. Where it
    holds a number is told: at most one in a thousand of all words gets one.

    The code is of first digits, and errors are (n, n_primes).

    >>> from adelic import AdeleSpace
    >>> code = RedundantResidueCode(AdeleSpace(primes=(101, 103, 107, 109, 113), precision=1), max_numerator=100)
    >>> could_be_chance(code, np.arange(5) < np.array([[0], [1], [2], [3]]))
    array([False, False,  True,  True])
    """
    primes = np.array(code.space.primes, dtype=np.float64)
    of_digits = np.where(errors, np.log(_WRONG / (primes - 1)), math.log(1 - _WRONG)).sum(axis=1)
    numbers = math.log(2 * code.max_numerator + 1) + math.log(code.max_denominator)
    return of_digits < math.log(_BY_CHANCE) + numbers - np.log(primes).sum()


class OperationTables(Solver):
    """A `ResidueTable` for each operator, of the expressions that have but one; longer ones ask them in turn.

    Where a pair of digits was not seen the place is erased, and stays so up to the answer.

    >>> from adelic.data import drawn_task
    >>> expression, tables = drawn_task("expression"), OperationTables()
    >>> tables.fit(expression, *expression.sample(30_000, np.random.default_rng(0)), seed=0, steps=0)
    >>> tables.answer(np.array([[12, 34, -1, 56, -3]])).tolist(), tables.n_parameters
    ([Fraction(2576, 1)], 0)
    """

    _tables: list[ResidueTable] | None = None

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return None for expressions."""
        return None if problem.operators and not problem.is_infix else "its questions are not expressions in postfix"

    def learn(self, problem: SampledTask, operands: Operands, answers: Answers, schedule: Schedule) -> None:
        """Remember the examples with one operator; seed and steps are not used."""
        self._tables = []
        is_one = (operands != 0).sum(axis=1) == 3
        pairs = np.where(operands[:, :2] < 0, operands[:, :1], operands[:, :2])  # a reference is to the first operand
        for k in range(1, problem.operators + 1):
            rows, table = is_one & (operands[:, 2] == -k), ResidueTable()
            table.learn(problem, pairs[rows], answers[rows], schedule)
            self._tables.append(table)

    def answer(self, operands: Operands) -> Answers:
        """Return the numbers, None where too few places were seen."""
        tables = learned(self._tables)
        operands, _ = without_padding(operands, self._problem)
        space, rows = tables[0].space, np.arange(len(operands))
        values = adelic_targets(space, np.maximum(operands, 0))[1][..., 0].numpy()  # (n, columns, n_primes)
        answers = values[:, 0].copy()
        for column, left, right in calls(torch.from_numpy(operands), len(tables)):
            for k, table in enumerate(tables, start=1):
                mine = rows[operands[:, column] == -k]
                one, other = values[mine, left.numpy()[mine]], values[mine, right.numpy()[mine]]
                values[mine, column] = answers[mine] = table.look_up(np.stack([one, other], axis=1))
        return decoded_digits(space, answers, self._problem)
