"""Models with operations on what may break them: long numbers, no numbers, no answers, half precision."""

import random

import pytest
import torch

from adelic.integrations.transformers import NumberCollator, rewrite
from adelic.nn.heads.exact import BINARY, PRIMES, UNARY
from adelic.numbers.describe import number_text

ALL = (*BINARY, *UNARY)
P, Q = PRIMES
A, B = (random.Random(seed).randrange(10**4999, 10**5000) for seed in (0, 1))


def bias(model, name):
    """Make a model choose an operation."""
    head = model.numbers.operations
    head.base.bias.data[:] = -99.0
    head.base.bias.data[[*head.unary, *head.binary].index(name)] = 99.0


def test_ten_thousand_digits_are_written_printed_and_put_in_place(equipped, only):
    model, tokenizer = equipped("LlamaForCausalLM", operations=("*",))
    bias(model, "*")
    prompt = f"{number_text(A)} * {number_text(B)} ="
    batch = NumberCollator(tokenizer, "causal")([{"prompt": prompt, "completion": f" {number_text(A * B)}"}])
    assert model(**batch).number_derivable == 1
    options = {"max_new_tokens": 1, "do_sample": False, "logits_processor": only(tokenizer.token_id)}
    written = model.generate(**tokenizer(prompt), **options)
    assert written.numbers[0, -1] == A * B
    assert "(5000 digits) × " in written.derivations[0, -1]
    assert number_text(A * B) in tokenizer.decode(written.sequences, written.numbers)[0]  # str() stops at 4,300 digits
    assert number_text(A * B) in rewrite(model, tokenizer, prompt, max_steps=1)[0].steps[0][1]


@pytest.mark.parametrize(
    ("prompt", "completion", "derivable"),
    [
        ("7 / 0 =", " 0", 1),
        ("0 / 0 % 0 =", " 1/0", None),  # 1/0 is no number, but 1 and 0 are
        (f"1/{P} + 1/{P} =", f" 2/{P}", 1),
        (f"1/{P} / 1/{Q} =", f" {Q}/{P}", 1),
        (f"{P * Q} + 3 =", " 4", 0),  # 4 - 3 is 0 modulo both primes less one
        (f"{P * Q} + 3 =", f" {P * Q - 3}", 1),
        ("1e999 + 1e-999 =", " 7", 0),
        ("9223372036854775808 // -1 =", " -9223372036854775808", 1),
        ("2 ** -99999999999999999999 =", " 5", 0),
        ("[NUM] + [NUM] =", " [NUM]", None),
        ("[NUM] + 5 =", " 5", 1),
        ("and =", " 5", 0),
        ("5 + 7 =", " and", None),
    ],
)
def test_strange_numbers_give_finite_losses_and_gradients(equipped, only, prompt, completion, derivable):
    model, tokenizer = equipped("LlamaForCausalLM", operations=ALL)
    outputs = model(**NumberCollator(tokenizer, "causal")([{"prompt": prompt, "completion": completion}]))
    assert derivable is None or outputs.number_derivable == derivable
    outputs.loss.backward()
    assert outputs.loss.isfinite()
    assert all(weight.grad is None or weight.grad.isfinite().all() for weight in model.parameters())
    options = {"max_new_tokens": 3, "do_sample": False, "logits_processor": only(tokenizer.token_id)}
    written = model.generate(**tokenizer([prompt, "is"]), **options)
    assert len(tokenizer.decode(written.sequences, written.numbers)) == 2


def test_an_empty_completion_beside_others_changes_no_number_loss(equipped):
    model, tokenizer = equipped("LlamaForCausalLM", operations=ALL)
    collator, right = NumberCollator(tokenizer, "causal"), {"prompt": "7 + 3 =", "completion": " 10"}
    with pytest.warns(UserWarning, match="nothing is learned of the prompt '7 \\+ 3 ='"):
        both = model(**collator([{"prompt": "7 + 3 =", "completion": ""}, right]))
    assert both.number_loss.item() == pytest.approx(model(**collator([right])).number_loss.item(), rel=1e-5)


@pytest.mark.parametrize("name", ["LlamaForCausalLM", "GPT2LMHeadModel"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_learns_and_writes(equipped, only, name, dtype):
    model, tokenizer = equipped(name, operations=ALL)
    model.to(dtype).train()
    batch = NumberCollator(tokenizer, "causal")([{"prompt": f"{10**20} + 3 =", "completion": f" {10**20 + 3}"}])
    outputs = model(**batch)
    outputs.loss.backward()
    assert (outputs.number_derivable, outputs.number_loss.dtype) == (1, torch.float32)
    assert all(weight.grad is None or weight.grad.isfinite().all() for weight in model.parameters())
    bias(model, "+")
    options = {"max_new_tokens": 1, "do_sample": False, "logits_processor": only(tokenizer.token_id)}
    assert model.eval().generate(**tokenizer(f"{10**20} + 3 ="), **options).numbers[0, -1] == 10**20 + 3


@pytest.mark.parametrize("use_reentrant", [True, False])
@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad", "ignore:.*is deprecated:FutureWarning")
def test_gradient_checkpointing_gives_the_same_gradients(equipped, use_reentrant):
    model, tokenizer = equipped("LlamaForCausalLM", operations=ALL)
    batch = NumberCollator(tokenizer, "causal")([{"prompt": "7 + 3 =", "completion": " 10"}])
    model.train()(**batch).loss.backward()
    plain = [None if weight.grad is None else weight.grad.clone() for weight in model.parameters()]
    model.zero_grad()
    model.numbers.operations.n_steps.zero_()  # by which gradients are weighed
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": use_reentrant})
    model(**batch).loss.backward()
    for weight, expected in zip(model.parameters(), plain, strict=True):
        assert (weight.grad is None) == (expected is None)
        assert expected is None or torch.allclose(weight.grad, expected)
