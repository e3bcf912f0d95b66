"""Solvers of the rivals as they are published, as far as one network for all allows; docs/rivals.md says what is left.

The packaged plans do not have them. A command names them by module and class, as

    adelic reproduce arithmetic addition --solvers adelic_lab.models.solvers.rivals.published:FoNE
"""

from typing import Any, cast

import numpy as np
import torch

from adelic.data.drawn import Answers, Operands, SampledTask
from adelic.nn.base_digits import count_digits
from adelic.nn.embeddings.fone import FoNEEmbedding
from adelic.nn.embeddings.xval import XValEmbedding
from adelic_lab.models.solvers.rivals.digits import DigitSolver
from adelic_lab.models.solvers.rivals.heads import DigitLogits, FourierHead, XValHead
from adelic_lab.models.solvers.rivals.transformer import (
    D_MODEL,
    OneTokenReader,
    Reader,
    TransformerSolver,
    XValSolver,
)

NUMBER_TOKEN_WEIGHT = 0.3
"""Weight of the number token loss beside the cross-entropy, that of its authors."""


class ShiftedReader(OneTokenReader):
    """FoNE's reader where training shifts numbers: the answer's digits are asked as many places further up."""

    def forward(self, features: torch.Tensor) -> DigitLogits:
        """Return the logits of the answer's digits for a batch of features."""
        shift = cast(FoNEEmbedding, self.embedding).draw_shift()
        outputs: DigitLogits = self.head(self.state(features), shift)
        return outputs


class FoNE(TransformerSolver):
    """FoNE as published: a token's vector is added, no sign, and a layer norm before the state is sliced.

    Source: Zhou et al., arXiv:2502.09741, and its code.
    """

    shifts = False

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return why FoNE cannot express a problem: it has no fractions, and its head no negative answers.

        >>> from adelic.data import drawn_task
        >>> FoNE().obstacle(drawn_task("subtraction")), FoNE().obstacle(drawn_task("addition"))
        ('as published it has no negative numbers', None)
        """
        return "as published it has no negative numbers" if problem.signed else super().obstacle(problem)

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        longest = max(count_digits(int(x), 10) for x in operands.flat)
        max_shift = max(0, problem.max_operand_digits - longest) if self.shifts else 0
        embedding = FoNEEmbedding(
            None, D_MODEL, integer_digits=problem.max_operand_digits, published=True, max_shift=max_shift
        )
        n_digits = problem.max_answer_digits
        head = FourierHead(D_MODEL, n_digits=n_digits, projection="norm", signed=False, max_shift=max_shift)
        return ShiftedReader(embedding, head, problem.arity, n_digits=n_digits)


class ShiftedFoNE(FoNE):
    """FoNE as published with its `len_gen_size`: in training, operands and answer are multiplied by powers of ten.

    They go as far as the problem's longest operands. Only of sums is the answer to 10^k·a and 10^k·b that to a and b,
    times 10^k.
    """

    shifts = True

    def obstacle(self, problem: SampledTask) -> str | None:
        """Return why FoNE cannot express a problem, or that its answer is not a sum.

        >>> from adelic.data import drawn_task
        >>> ShiftedFoNE().obstacle(drawn_task("multiplication"))
        'shifts are for sums alone'
        """
        if problem.name not in ("addition", "sum"):
            return "shifts are for sums alone"
        return super().obstacle(problem)


class XVal(XValSolver):
    """xVal as published: the number's vector is a multiple of one vector. Operands and answers have a scale each.

    Source: Golkar et al., arXiv:2310.02989, and its code.
    """

    is_published = True


class LogXVal(TransformerSolver):
    """xVal as FoNE's authors ran it: one logarithmic scale for operands and answers, and a linear head.

    Source: the code of Zhou et al., arXiv:2502.09741.
    """

    def _read(self, problem: SampledTask, operands: Operands, answers: Answers) -> Reader:
        numbers: Any = np.concatenate([operands.astype(object).ravel(), answers])
        embedding = XValEmbedding(None, D_MODEL, scaling="log", published=True)
        embedding.fit(numbers)
        return OneTokenReader(embedding, XValHead(D_MODEL, scaling="log", is_linear=True).fit(numbers), problem.arity)


class NumberTokenLoss(DigitSolver):
    """Decimal digits with the number token loss beside the cross-entropy.

    Source: Zausinger et al., "Regress, don't guess", arXiv:2411.02083, and its code.
    """

    number_token_weight = NUMBER_TOKEN_WEIGHT
