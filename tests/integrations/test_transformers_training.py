"""`Trainer` trains equipped models; that they learn to add examples/equip.ipynb shows, which runs with every test."""

import random

import pytest
import torch
import transformers

from adelic.integrations.transformers import NumberCollator, from_pretrained

pytest.importorskip("accelerate")
pytestmark = pytest.mark.filterwarnings("ignore:a text's number:UserWarning")  # what these models write is not asked


def arguments(folder, **options):
    quiet = {"report_to": [], "disable_tqdm": True, "save_strategy": "no", "logging_strategy": "no", "use_cpu": True}
    return transformers.TrainingArguments(folder, remove_unused_columns=False, **quiet | options)


def examples_for(name):
    """Return examples for a model, with numbers of all sizes where it computes with them."""
    if name.startswith("Llama"):
        rng = random.Random(0)
        pairs = [(rng.randrange(10**size), rng.randrange(10**size)) for size in (1, 5, 30, 70) * 8]
        return [{"prompt": f"{a} + {b} =", "completion": f" {a + b}"} for a, b in pairs]
    more = {"BertForSequenceClassification": lambda n: {"label": n % 2}}.get(name, lambda n: {})
    return [{"text": f"{n} and {n + 1} is 1/{n + 1}"} | more(n) for n in range(32)]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("LlamaForCausalLM", {"dataloader_num_workers": 2}),
        *(
            pytest.param(name, {"gradient_accumulation_steps": 2}, marks=pytest.mark.long)
            for name in ("BertForMaskedLM", "GPT2LMHeadModel", "BertForSequenceClassification")
        ),
    ],
)
def test_trainer_trains_evaluates_saves_and_goes_on(equipped, tmp_path, name, options):
    model, tokenizer = equipped(name, operations=("+",) if name.startswith("Llama") else ())
    examples = examples_for(name)
    collator = NumberCollator(tokenizer, model.objective, mask_probability=0.5, seed=0)
    options = {"per_device_train_batch_size": 8, "learning_rate": 1e-2} | options
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
    batch = tokenizer(["3 and 4"])
    torch.testing.assert_close(again(**batch).logits, model.eval()(**batch).logits)
    longer = arguments(tmp_path, **options | {"num_train_epochs": 9})
    trainer = transformers.Trainer(again, longer, train_dataset=examples, data_collator=collator)
    steps = trainer.train(resume_from_checkpoint=str(checkpoint)).global_step
    assert steps == 9 * 4 // options.get("gradient_accumulation_steps", 1)


def test_tables_of_datasets(equipped, tmp_path):
    datasets = pytest.importorskip("datasets")
    model, tokenizer = equipped("GPT2LMHeadModel")
    collator = NumberCollator(tokenizer, model.objective)
    table = datasets.Dataset.from_dict({"text": [f"{n} + 1 = {n + 1}" for n in range(8)]})
    trained = transformers.Trainer(
        model, arguments(tmp_path, max_steps=2), train_dataset=table, data_collator=collator
    ).train()
    assert trained.global_step == 2
