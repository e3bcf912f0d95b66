"""What a network costs: the memory that it takes, asked before anything of it is built, and operations of a pass."""

from itertools import chain

import psutil
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from adelic.errors import ConfigurationError
from adelic.numbers.features import HOT_KINDS, FeatureLayout
from adelic.storage.checks import GIBIBYTE
from adelic_lab.config.embedding import EmbeddingConfig
from adelic_lab.config.experiment import Experiment
from adelic_lab.config.recipes import TrainConfig

_BYTES_A_PARAMETER = 4 * 6  # float32: weight, gradient, two moments of Adam's, best weight, and what is being saved
_BYTES_A_FEATURE, _BYTES_A_HOT_FEATURE = 8, 4  # at the peak, while a table of features is made and checked: measured


def check_memory(experiment: Experiment, device: torch.device) -> None:
    """Raise ConfigurationError unless a device's free memory holds the model while it is trained.

    >>> from adelic.data import TaskData
    >>> from adelic_lab.config.embedding import EmbeddingConfig
    >>> from adelic_lab.config.recipes import load_recipe
    >>> recipe = load_recipe("quick", "schubert-4", d_model=65_536, n_layers=10_000)
    >>> config = Experiment(data=TaskData("schubert", 4), model=EmbeddingConfig.of("learned"), recipe=recipe)
    >>> check_memory(config, torch.device("cpu"))
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: n-layers=10000, d-model=65536 and d-feedforward=512 are 172,469,780,...
    """
    recipe = experiment.network_recipe
    parameters = recipe.n_encoder_parameters
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else psutil.virtual_memory().available
    needed = _BYTES_A_PARAMETER * parameters
    if needed > free:
        most = free * recipe.n_layers // needed
        remedy = f"n-layers={most} at most" if most else "no layer of this size fits; d-model=128 is common"
        raise ConfigurationError(
            f"n-layers={recipe.n_layers}, d-model={recipe.d_model} and d-feedforward={recipe.d_feedforward} are "
            f"{parameters:,} parameters, which need {needed / GIBIBYTE:,.1f} GiB to be trained; {device} has "
            f"{free / GIBIBYTE:,.1f} GiB free: {remedy}"
        )


def check_features(embedding: EmbeddingConfig, recipe: TrainConfig, count: int) -> None:
    """Raise ConfigurationError unless memory holds AOE's features of some numbers, and the map from them to vectors.

    Args:
        embedding: of the network; one other than AOE passes.
        recipe: says how long a vector is.
        count: how many numbers have their features at once: those of the vocabulary, or of a batch.

    >>> from adelic_lab.config.recipes import load_recipe
    >>> config = EmbeddingConfig(name="adelic", features="valuation-unit", projection="linear", primes=(1_000_000_007,))
    >>> check_features(config, load_recipe("quick", "schubert-4"), 300)
    Traceback (most recent call last):
    adelic.errors.ConfigurationError: features='valuation-unit' of primes up to 1000000007 with precision=16 are
    1,000,000,024 for a number, which take ... GiB for 300 numbers; ... GiB are free: give smaller --primes, ...
    """
    if embedding.primes is None:
        return
    space, kind = embedding.space(), str(embedding.features)
    width, parameters = sum(space.precisions), 0  # all digits are computed, also where few of them become features
    if embedding.projection is not None or embedding.places is not None:
        width = FeatureLayout.size_of(kind, space, space.max_precision)
        parameters = width * recipe.d_model
    bytes_a_feature = _BYTES_A_HOT_FEATURE if kind in HOT_KINDS else _BYTES_A_FEATURE
    needed, free = count * width * bytes_a_feature + parameters * _BYTES_A_PARAMETER, psutil.virtual_memory().available
    if needed > free:
        raise ConfigurationError(
            f"features={kind!r} of primes up to {max(space.primes)} with precision={space.max_precision} are {width:,} "
            f"for a number, which take {needed / GIBIBYTE:,.1f} GiB for {count:,} numbers; {free / GIBIBYTE:,.1f} GiB "
            "are free: give smaller --primes, a lower --precision, or --features digits"
        )


def forward_flops(model: torch.nn.Module, length: int) -> int:
    """Return the floating-point operations that the matrix products of a forward pass over one example take.

    A multiplication with an addition counts as two. Norms, softmax, ReLU and look-ups are not counted, as is usual:
    they are a hundredth of the whole. Nothing is computed, only shapes are followed (torch's "meta" device), so that
    weights, mode and random state of the model stay as they are. Counted are torch's plain functions, whose products
    are those of `adelic.nn.kernels.fused`: of the last layer, only what the head reads is computed. The length is that
    of an example without [CLS].

    >>> from adelic import nn
    >>> embedding = nn.LearnedEmbedding(nn.Vocabulary(range(8)), d_model=16)
    >>> model = nn.SequenceClassifier(embedding, n_classes=5, max_length=8, n_layers=1, n_heads=2, d_feedforward=32)
    >>> keys_and_values, query, attention = 9 * 2 * 16 * 32, 2 * 16 * 16, 2 * 2 * 9 * 16
    >>> projection, feed_forward, head = 2 * 16 * 16, 2 * 2 * 16 * 32, 2 * 16 * 5
    >>> forward_flops(model, 8) == keys_and_values + query + attention + projection + feed_forward + head
    True
    """
    tensors = {
        name: torch.empty_like(tensor, device="meta")
        for name, tensor in chain(model.named_parameters(), model.named_buffers())
    }
    ids = torch.zeros(1, length, dtype=torch.int64, device="meta")
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        # Of the ways to compute attention, this one consists of products that every version of torch counts.
        with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            torch.func.functional_call(model, tensors, (ids,))
    finally:
        for module, mode in modes:  # a part may be frozen in the mode of evaluation while the rest trains
            module.training = mode
    return int(counter.get_total_flops())
