"""What `LocalGlobalClassifier` reads; that it learns is shown where it is trained."""

from fractions import Fraction

import pytest
import torch

from adelic import AdeleSpace, nn
from adelic.errors import ConfigurationError

SPACE = AdeleSpace((2, 3, 5), 4)
FUSIONS = ("agree", "signs", "sum", "product")


def model_of(**options):
    return nn.LocalGlobalClassifier(SPACE, n_classes=2, length=2, width=8, **options).eval()


@pytest.mark.parametrize("fusion", FUSIONS)
def test_numbers_come_in_any_form(fusion, batch):
    model, numbers = model_of(fusion=fusion), torch.arange(24)[: 2 * torch.Size(batch).numel()].reshape(*batch, 2)
    for same in (numbers.int(), numbers.numpy(), numbers.tolist()):
        assert torch.equal(model(same), model(numbers))
    assert model(numbers).shape == (*batch, 2)
    assert model(torch.zeros(0, 2, dtype=torch.int64)).shape == (0, 2)
    assert model.answers(numbers.reshape(-1, 2)).shape[1] == 4


def test_fractions_and_great_numbers_are_read():
    model = model_of()
    logits = model([["1/7", 2]])
    for same in ([[Fraction(1, 7), 2]], ([[1, 2]], [[7, 1]]), [[(2, 14), 2]]):
        assert torch.equal(model(same), logits)
        assert torch.equal(model.answers(same), model.answers([["1/7", 2]]))
    assert torch.isfinite(model([[10**40, 2]])).all()


def test_ids_have_the_logits_of_their_numbers():
    model, other = model_of(vocabulary=[5, "1/7"]), model_of()
    for own, its in zip(other.parameters(), model.parameters(), strict=True):
        own.data = its.data
    torch.testing.assert_close(model(torch.tensor([[0, 1]])), other([[5, "1/7"]]))


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([1, 2, 3], "an example of 3 numbers: this body reads 2"),
        (torch.ones(4, 3).long(), "an example of 3 numbers: this body reads 2"),
        (5, "one number alone is no sequence"),
        ([1, 2], r"numbers of shape \(2,\) are no list of examples"),
    ],
)
def test_what_are_no_rows(numbers, words):
    with pytest.raises(ConfigurationError, match=words):
        model_of().answers(numbers)


def test_a_vocabulary_has_numbers_alone():
    with pytest.raises(ConfigurationError, match="LocalGlobalClassifier has no vector for a missing or unknown number"):
        model_of(vocabulary=nn.Vocabulary(range(5), missing=True))
