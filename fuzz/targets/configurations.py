"""Hostile config.json files: `from_pretrained` names the folder in a line that refuses, or loads a model that reads.

The settings of numbers are anything JSON holds. Of the model's own only the name of its class, its type and what is no
size are changed: how many layers there are to be, Transformers decides.
"""

import copy
import json
import logging
import warnings
from pathlib import Path
from typing import Any

import psutil
import torch
import transformers

from adelic import AdeleSpace, AdelicError
from adelic.integrations.transformers import NumberTokenizer, equip, from_pretrained
from targets.case import Case, check_error

SPACE = AdeleSpace(primes=(2, 3, 5, 7, 11, 13), precision=1)
MOST_BYTES = 1 << 30
"""What a file may make a load take."""
_VALUES: tuple[Any, ...] = (
    *(None, True, False, "", "abc", "7", [], {}, [1], {"2": 3}, [[]], 0, 1, -1, 0.9, 2, 13, 1e-320, 1e308),
    *(2**31 - 1, 2**61 - 1, 2**64, 10**400, -(10**400), float("inf"), float("nan"), "x" * 10**5, "a\nb", "\ud800"),
    *([2, 2], [2, 2**31 - 1], list(range(20_000)), [2] * 10**5, [2.0], ["2"], {"2": 10**7}, 10**7, 10**5),
    *("characters", "one-hot-digits", "multiplicative-characters"),
)
_CLASSES = [name for name in dir(transformers) if name[0].isupper() and not name.endswith(("Config", "Tokenizer"))]
_OF_THE_MODEL = ("model_type", "architectures", "activation_function", "dtype", "tie_word_embeddings", "bos_token_id")


def configurations(case: Case) -> None:
    """Load a folder with a changed config.json."""
    folder = case.folder / "model"
    if not folder.exists():
        _save(folder)
    plain = (folder / "config.json.plain").read_bytes()
    content = _spoilt(case, plain)
    (folder / "config.json").write_bytes(content)
    process = psutil.Process()
    before = process.memory_info().rss
    model: Any = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = from_pretrained(folder)
    except AdelicError as error:
        check_error(error)
        refusal = str(error)
    if model is None:
        assert str(folder) in refusal, refusal
        case.counts["refused"] += 1
    else:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        batch = NumberTokenizer(tokenizer, SPACE)(["1 and -7/11 is 2"])
        settings = model.numbers.settings
        if settings.space == SPACE and model.get_input_embeddings().num_embeddings > settings.token_id:
            with torch.no_grad():
                assert model(**batch).number_states.isfinite().all(), "no numbers come out"
        case.counts["loaded"] += 1
    assert process.memory_info().rss - before < MOST_BYTES, "it takes too much memory"


def _save(folder: Path) -> None:
    """Save a tiny equipped model with its tokenizer."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    transformers.logging.set_verbosity(logging.CRITICAL)
    transformers.logging.disable_progress_bar()
    words = Tokenizer(models.WordLevel({"[UNK]": 0, "[PAD]": 1, "and": 2, "is": 3}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]")
    config = transformers.GPT2Config(vocab_size=4, n_embd=16, n_layer=1, n_head=2, bos_token_id=None, eos_token_id=None)
    model = equip(transformers.GPT2LMHeadModel(config), tokenizer, SPACE)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "config.json.plain").write_bytes((folder / "config.json").read_bytes())


def _spoilt(case: Case, plain: bytes) -> bytes:
    """Return a configuration with a change or two."""
    rng = case.rng
    if case.chance(0.1):
        at = rng.randrange(len(plain))
        return rng.choice(
            [plain[:at], plain[:at] + bytes([rng.randrange(256)]) + plain[at + 1 :], b"[]", b"7", b"[" * 10**5]
        )
    data = json.loads(plain)
    for _ in range(rng.choice([1, 1, 1, 2])):
        _change(case, data)
    return json.dumps(data).encode()


def _change(case: Case, data: dict[str, Any]) -> None:
    rng, numbers = case.rng, data["adelic"]
    value = copy.deepcopy(rng.choice(_VALUES))
    kind = rng.random()
    if not isinstance(numbers, dict) or kind < 0.05:
        data["adelic"] = value
    elif kind < 0.25:
        numbers["model"] = rng.choice(_CLASSES)
    elif kind < 0.35:
        data[rng.choice(_OF_THE_MODEL)] = value
    elif kind < 0.6 and isinstance(numbers.get("space"), dict):
        numbers["space"][rng.choice(["primes", "precision", "fractional_digits", "more"])] = value
    else:
        numbers[rng.choice([*numbers, "more"])] = value
        if case.chance(0.1):
            del numbers[rng.choice(list(numbers))]
