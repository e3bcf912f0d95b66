"""`Trainer` trains equipped models, and they learn to add where others learn by heart."""

import random

import numpy as np
import pytest
import torch

from adelic import AdeleSpace
from adelic.data import check_disjoint

transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from adelic.integrations.transformers import NumberCollator, NumberTokenizer, equip, from_pretrained  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:a text's number:UserWarning")  # what these models write is not asked

SPACE = AdeleSpace(primes=(2, 3, 5, 7), precision=1)
LARGEST = 50
N_TRAIN, N_TEST = 800, 500
STEPS = 500


def arguments(folder, **options):
    quiet = {"report_to": [], "disable_tqdm": True, "save_strategy": "no", "logging_strategy": "no", "use_cpu": True}
    return transformers.TrainingArguments(folder, remove_unused_columns=False, **quiet | options)


def sums():
    """Return pairs of numbers to learn from, in both orders, and others, which are not learned in the other order."""
    pairs = [(a, b) for a in range(LARGEST) for b in range(a + 1, LARGEST)]
    random.Random(0).shuffle(pairs)
    train = [pair for a, b in pairs[: N_TRAIN // 2] for pair in ((a, b), (b, a))]
    check_disjoint(np.array(train), np.array([pair[::-1] for pair in pairs[-N_TEST:]]))
    return train, pairs[-N_TEST:]


def small_llama(tokenizer):
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        initializer_range=0.08,  # about 1/√64: 0.02 is for ten times the width
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=tokenizer.pad_token_id,
    )
    return transformers.LlamaForCausalLM(config)


def fit(model, examples, collator, folder):
    recipe = {"learning_rate": 3e-3, "warmup_steps": 20, "max_steps": STEPS, "per_device_train_batch_size": 64}
    transformers.Trainer(model, arguments(folder, **recipe), train_dataset=examples, data_collator=collator).train()
    return model.eval()


def questions_and_examples():
    train, test = sums()
    examples = [{"prompt": f"{a} + {b} =", "completion": f" {a + b}"} for a, b in train]
    return examples, test, [f"{a} + {b} =" for a, b in test]


@pytest.mark.slow
def test_learns_to_add(word_tokenizer, tmp_path):
    """By Transformers' own trainer; examples/equip.ipynb learns the same by a plain loop, and runs with every test."""
    examples, test, questions = questions_and_examples()
    plain = word_tokenizer(padding_side="left")
    model = equip(small_llama(plain), plain, SPACE, real_scale=LARGEST, max_numerator=2 * LARGEST)
    tokenizer = NumberTokenizer(plain, SPACE)
    fit(model, examples, NumberCollator(tokenizer, model.objective), tmp_path)
    written = model.generate(**tokenizer(questions), max_new_tokens=1, do_sample=False)
    right = sum(value == a + b for value, (a, b) in zip(written.numbers[:, -1], test, strict=True)) / N_TEST
    assert right > 0.8, f"unseen sums: {right:.3f}"


@pytest.mark.slow
def test_others_learn_sums_by_heart(word_tokenizer, tmp_path):
    """The same model with one token a number: every number of the answers is a word that it has seen."""
    examples, test, questions = questions_and_examples()
    words = word_tokenizer(*(str(n) for n in range(2 * LARGEST)), padding_side="left")

    def collate(rows):
        batch = words([row["prompt"] + row["completion"] for row in rows], return_tensors="pt")
        labels = batch["input_ids"].clone()
        labels[:, :-1] = -100
        return {**batch, "labels": labels}

    model = fit(small_llama(words), examples, collate, tmp_path)
    ids = model.generate(**words(questions, return_tensors="pt"), max_new_tokens=1, do_sample=False)[:, -1]
    right = sum(words.decode([i]) == str(a + b) for i, (a, b) in zip(ids.tolist(), test, strict=True)) / N_TEST
    assert right < 0.4, f"unseen sums: {right:.3f}"


@pytest.mark.long
@pytest.mark.parametrize("name", ["BertForMaskedLM", "GPT2LMHeadModel", "BertForSequenceClassification"])
def test_trainer_trains_evaluates_saves_and_goes_on(word_tokenizer, tiny_model, tmp_path, name):
    plain = word_tokenizer()
    model = equip(tiny_model(name, len(plain)), plain, SPACE)
    examples = [{"text": f"{n} and {n + 1} is 1/{n + 1}"} for n in range(32)]
    if name == "BertForSequenceClassification":
        examples = [row | {"label": n % 2} for n, row in enumerate(examples)]
    collator = NumberCollator(NumberTokenizer(plain, SPACE), model.objective, mask_probability=0.5, seed=0)
    options = {"per_device_train_batch_size": 8, "learning_rate": 1e-2, "gradient_accumulation_steps": 2}
    options |= {"num_train_epochs": 8, "save_strategy": "epoch", "save_total_limit": 1}
    trainer = transformers.Trainer(
        model,
        arguments(tmp_path, **options),
        train_dataset=examples,
        eval_dataset=examples,
        data_collator=collator,
        compute_metrics=lambda prediction: {"size": len(prediction.predictions)},
    )
    before = trainer.evaluate()["eval_loss"]
    projection = model.numbers.projection.weight.detach().clone()
    trainer.train()
    after = trainer.evaluate()
    assert after["eval_loss"] < before
    assert after["eval_size"] == 32  # the logits alone: our own outputs are not collected
    assert not torch.equal(model.numbers.projection.weight, projection)
    checkpoint = next(tmp_path.glob("checkpoint-*"))
    again = from_pretrained(checkpoint)
    batch = NumberTokenizer(plain, SPACE)(["3 and 4"])
    torch.testing.assert_close(again(**batch).logits, model.eval()(**batch).logits)
    longer = arguments(tmp_path, **options | {"num_train_epochs": 9})
    trainer = transformers.Trainer(again, longer, train_dataset=examples, data_collator=collator)
    assert trainer.train(resume_from_checkpoint=str(checkpoint)).global_step == 18


def test_tables_of_datasets(word_tokenizer, tiny_model, tmp_path):
    datasets = pytest.importorskip("datasets")
    plain = word_tokenizer()
    model = equip(tiny_model("GPT2LMHeadModel", len(plain)), plain, SPACE)
    collator = NumberCollator(NumberTokenizer(plain, SPACE), model.objective)
    table = datasets.Dataset.from_dict({"text": [f"{n} + 1 = {n + 1}" for n in range(8)]})
    trained = transformers.Trainer(
        model, arguments(tmp_path, max_steps=2), train_dataset=table, data_collator=collator
    ).train()
    assert trained.global_step == 2


def test_batches_through_worker_processes(word_tokenizer):
    plain = word_tokenizer()
    model = equip(small_llama(plain), plain, SPACE)
    collator = NumberCollator(NumberTokenizer(plain, SPACE), model.objective)
    texts = [f"{n} + 1/7" for n in range(6)]
    alone = list(torch.utils.data.DataLoader(texts, batch_size=3, collate_fn=collator))
    spread = list(torch.utils.data.DataLoader(texts, batch_size=3, collate_fn=collator, num_workers=1))
    for one, other in zip(alone, spread, strict=True):
        assert one.keys() == other.keys()
        assert all(torch.equal(one[key].nan_to_num(), other[key].nan_to_num()) for key in one)
