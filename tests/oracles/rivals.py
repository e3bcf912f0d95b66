"""Write rivals.json: what the rivals' published code computes, for `tests/nn/embeddings/test_rivals_published.py`.

Each option names a checkout of a public repository (git clone https://github.com/REPOSITORY, then git checkout COMMIT;
both are in rivals.json). The code is imported from there; none of it is here. It needs torch, transformers, datasets.

    python tests/oracles/rivals.py --fone FONE --xval XVAL --rtdl RTDL --abacus ABACUS --ntl NTL --int2int INT2INT
"""

import argparse
import importlib.util
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import transformers

REPOSITORIES = {
    "fone": "KevinZhoutianyi/FoNE",
    "xval": "PolymathicAI/xVal",
    "rtdl": "yandex-research/rtdl-num-embeddings",
    "abacus": "mcleish7/arithmetic",
    "ntl": "tum-ai/number-token-loss",
    "int2int": "f-charton/Int2Int",
}
TARGET = Path(__file__).with_suffix(".json")


def load(path: Path, **names: Any) -> ModuleType:
    """Return the module in a file; `names` stand in it beforehand, for a file that forgot to import them."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    vars(module).update(names)
    spec.loader.exec_module(module)
    return module


def fone(checkout: Path) -> dict[str, Any]:
    """Return FoNE's periods, waves, vectors, initial weights, losses and predictions, and what it makes of a sign."""
    encoder = load(checkout / "number_encoders" / "FNE.py").FNE

    def build(d_model: int, integer_digits: int, fractional_digits: int, bases: list[float], **options: Any) -> Any:
        return encoder(d_model, integer_digits, fractional_digits, bases, device="cpu", **options)

    waves = []
    integers, decimals = [0, 1, 9, 25, 305, 1000, 99999], [0, 0.5, 0.25, 7, 12.34, 999.99]
    for i, f, bases, numbers in [
        (5, 0, [10], integers),
        (5, 0, [2, 5], integers),
        (3, 2, [10], decimals),
        (3, 2, [2, 5], decimals),
    ]:
        module = build(32, i, f, bases)
        x = torch.tensor([numbers], dtype=torch.float64)
        waves.append(
            {
                "integer_digits": i,
                "fractional_digits": f,
                "bases": bases,
                "numbers": [str(number) for number in numbers],
                "periods": module.period_list,
                "waves": {str(k): module.fourier_embedding(x, len_gen=k)[0].tolist() for k in (0, 1, 2)},
            }
        )
    module = build(16, 5, 0, [10])
    token = torch.randn(16)
    numbers = torch.tensor([[305, 0, 7]], dtype=torch.float64)
    vectors = {
        "weight": module.linear.weight.tolist(),
        "bias": module.linear.bias.tolist(),
        "token": token.tolist(),
        "numbers": [305, 0, 7],
        # as train/train.py adds them to the token's vectors
        "vectors": (token.expand(1, 3, 16) + module(numbers))[0].tolist(),
    }
    wide = build(128, 5, 0, [10]).linear
    initial = {"d_model": 128, "greatest": wide.weight.abs().max().item(), "deviation": wide.weight.std().item()}
    heads = []
    for bases in ([10], [2, 5]):
        module = build(32, 4, 0, bases)
        torch.nn.init.normal_(module.layer_norm.weight, 1, 0.3)
        torch.nn.init.normal_(module.layer_norm.bias, 0, 0.3)
        hidden, answers = 3 * torch.randn(6, 32), [0, 7, 42, 305, 9999, 1200]
        labels = torch.tensor(answers, dtype=torch.float64)
        losses = {k: module.fourier_compute_loss(hidden, labels, 4, 0, len_gen=k).item() for k in (0, 1, 2)}
        heads.append(
            {
                "bases": bases,
                "n_digits": 4,
                "norm_weight": module.layer_norm.weight.tolist(),
                "norm_bias": module.layer_norm.bias.tolist(),
                "hidden": hidden.tolist(),
                "answers": answers,
                "loss": {str(k): loss for k, loss in losses.items()},
                "predicted": [int(n) for n in module.fourier_compute_prediction(hidden, 4, 0)],
            }
        )
    read = load(checkout / "utils" / "data_utils.py").preprocess({"question": "-12+7=", "label": "-5"}, False, "fne")
    return {"waves": waves, "vectors": vectors, "initial": initial, "heads": heads, "read": read}


def fone_xval(checkout: Path) -> dict[str, Any]:
    """Return the vectors, losses and predictions of FoNE's port of xVal, on a logarithmic scale."""
    module = load(checkout / "number_encoders" / "XVAL.py").XVAL(6, max_num=999, device="cpu")
    token, hidden = torch.randn(6), torch.randn(4, 6)
    numbers, answers = [-999, -3, 0, 1, 250], [0, 999, -17, 250]
    scattered = torch.tensor([numbers], dtype=torch.float64)
    return {
        "greatest": 999,
        "token": token.tolist(),
        "numbers": numbers,
        "vectors": module(scattered, token.expand(1, len(numbers), 6))[0].tolist(),
        "weight": module.num_head.weight.tolist(),
        "bias": module.num_head.bias.tolist(),
        "hidden": hidden.tolist(),
        "answers": answers,
        "loss": module.compute_loss(hidden, torch.tensor(answers)).item(),
        "predicted": module.compute_prediction(hidden).tolist(),
    }


def xval(checkout: Path) -> dict[str, Any]:
    """Return xVal's vectors before the encoder, without positions, and what its number head makes of states."""
    model = load(checkout / "xval" / "numformer.py").Numformer(2, 6, 1, 1, 24, context_length=5)
    torch.nn.init.zeros_(model.position_embed.weight)
    seen = []
    model.encoder_stack.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    scaled, hidden = [-5.0, -0.5, 0.0, 1.0, 5.0], torch.randn(4, 6)
    model(torch.ones(1, 5, dtype=torch.int64), torch.tensor([scaled]))
    return {
        "token": model.token_embed.weight[1].tolist(),
        "scaled": scaled,
        "vectors": seen[0][0].tolist(),
        "head": {name: parameter.tolist() for name, parameter in model.num_head.named_parameters()},
        "hidden": hidden.tolist(),
        "outputs": model.num_head(hidden)[:, 0].tolist(),
    }


def periodic(checkout: Path) -> dict[str, Any]:
    """Return periodic embeddings of one feature, and the extent of many initial frequencies."""
    built = load(checkout / "package" / "rtdl_num_embeddings.py").PeriodicEmbeddings
    module = built(1, 5, n_frequencies=4, frequency_init_scale=0.5, lite=True)
    x = torch.tensor([-1.5, 0.0, 0.25, 2.0])
    many = built(1, 5, n_frequencies=20_000, frequency_init_scale=0.01, lite=True).periodic.weight / 0.01
    return {
        "frequencies": module.periodic.weight[0].tolist(),
        "weight": module.linear.weight.tolist(),
        "bias": module.linear.bias.tolist(),
        "standardized": x.tolist(),
        "vectors": module(x[:, None])[:, 0].tolist(),
        "initial": {"greatest": many.abs().max().item(), "deviation": many.std().item()},
    }


def abacus(checkout: Path) -> dict[str, Any]:
    """Return which rows of its table Abacus reads for a text, in evaluation and with the offsets of training."""
    # The file imports neither of the two.
    module = load(checkout / "abacus.py", torch=torch, random=random).Abacus(list(range(10)), 1)
    torch.nn.init.zeros_(module.embedding.weight)
    module.embedding.weight.data[:, 0] += torch.arange(1024)  # a row tells its number
    text = "321+54=573"
    ids = torch.tensor([[int(c) if c.isdigit() else 10 + i for i, c in enumerate(text)]])

    def rows() -> list[int]:
        return [int(row) for row in module(ids)[0, :, 0]]

    drawn = [rows() for _ in range(2000)]
    offsets = [row[0] - 1 for row in drawn]
    return {
        "text": text,
        "training": drawn[:3],
        "offsets": [min(offsets), max(offsets)],
        "evaluation": module.eval() and rows(),
    }


class Digits:
    """A tokenizer of eleven tokens, ten digits and one that is none, as the number token losses want one."""

    vocabulary = {"a": 0} | {str(digit): 1 + digit for digit in range(10)}

    def add_tokens(self, tokens: list[str]) -> None:
        """Add nothing: all are there."""
        assert set(tokens) <= set(self.vocabulary)

    def get_vocab(self) -> dict[str, int]:
        """Return the tokens' ids."""
        return self.vocabulary

    def get_num_tokens(self) -> list[str]:
        """Return the digits."""
        return [str(digit) for digit in range(10)]

    def decode_number_token(self, token: str, ignore_order: bool = True) -> float:
        """Return a digit's value."""
        return float(token)


def number_token_loss(checkout: Path) -> dict[str, Any]:
    """Return the number token losses of logits; only digits are asked, and the logit of "a" is far below the others."""
    sys.path.insert(0, str(checkout / "src"))  # its modules import each other
    folder = checkout / "src" / "ntl" / "loss_functions"
    base, squared = load(folder / "base_number_token_loss.py"), load(folder / "number_token_loss.py")
    logits, digits = 2 * torch.randn(1, 6, 11), torch.tensor([[0, 3, 4, 9, 5, 1]])
    logits[..., 0] = -1e4  # so that the cross-entropy, too, is among the digits alone
    return {
        "logits": logits[0, :, 1:].tolist(),
        "digits": digits[0].tolist(),
        "each": base.NumberTokenLoss(Digits(), "cpu")(logits, digits + 1, reduction="none").tolist(),
        "mean": base.NumberTokenLoss(Digits(), "cpu")(logits, digits + 1).item(),
        "with_cross_entropy": base.CEWithNTL(Digits(), "cpu")(logits, digits + 1).item(),
        "weight": base.CEWithNTL(Digits(), "cpu").ntl_weight,
        "squared": squared.NumberTokenLoss(Digits(), 11, "cpu").forward(logits, digits + 1).item(),
    }


def int2int(checkout: Path) -> dict[str, Any]:
    """Return integers as Int2Int writes them in base 1,000."""
    encoder = load(checkout / "src" / "envs" / "encoders.py").PositionalInts(1000)
    numbers = [0, 7, -305, 1000, -123456789]
    return {"base": 1000, "numbers": numbers, "tokens": [encoder.encode(number) for number in numbers]}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, repository in REPOSITORIES.items():
        parser.add_argument(f"--{name}", type=Path, required=True, help=f"a checkout of {repository}")
    checkouts: dict[str, Path] = vars(parser.parse_args())
    commits = {
        name: subprocess.check_output(["git", "-C", str(path), "rev-parse", "HEAD"], text=True).strip()
        for name, path in checkouts.items()
    }
    torch.manual_seed(0)
    random.seed(0)
    torch.set_grad_enabled(False)
    made = {
        "meta": {
            "command": "python tests/oracles/rivals.py --fone FONE --xval XVAL --rtdl RTDL --abacus ABACUS --ntl NTL "
            "--int2int INT2INT",
            "repositories": {
                name: {"repository": REPOSITORIES[name], "commit": commits[name]} for name in REPOSITORIES
            },
            "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        },
        "fone": fone(checkouts["fone"]),
        "fone_xval": fone_xval(checkouts["fone"]),
        "xval": xval(checkouts["xval"]),
        "periodic": periodic(checkouts["rtdl"]),
        "abacus": abacus(checkouts["abacus"]),
        "number_token_loss": number_token_loss(checkouts["ntl"]),
        "int2int": int2int(checkouts["int2int"]),
    }
    text = json.dumps(made, indent=1)
    # a vector a line
    text = re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found[0].split()), text)
    TARGET.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
