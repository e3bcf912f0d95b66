"""What `adelic data audit` prints."""

from typing import Any

from adelic.cli.tables import print_table

_KNOWN = {"rows": "{} training rows", "images": "{} the images of training rows"}
_PRINTED_RULES = 10
_PRINTED_CLASSES = 5


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f}"


def print_rows(found: dict[str, Any]) -> None:
    """Print the audit of stored rows."""
    rows = [(f["name"], _percent(f["test"]), _percent(f["everywhere"])) for f in found["findings"]]
    rows += [(_KNOWN[known].format("look-up among"), _percent(score), "–") for known, score in found["lookup"].items()]
    print_table(("accuracy in percent of", "test rows", "all rows"), rows, names=1)
    known = found["duplicates"]["test rows known outside test"]
    print(f"duplicate rows: {found['duplicates']['rows']:,}; test rows known outside test: {100 * known:.2f} %")
    for name, share in found["symmetries"].items():
        print(f"test rows with an equivalent row outside test, by symmetry {name}: {100 * share:.2f} %")
    for known, parts in found["overlap"].items():
        for part, those in parts.items():
            among = _KNOWN[known].format(f"{part} rows among")
            print(f"{among}: {those['rows']:,} of {found['rows'][part]:,} ({100 * those['share']:.2f} %)")
    if found["symmetries"] and found["split"] == "published":
        print("images of training rows may be trained on with --split orbits only, which keeps them out of test")
    if found["task"] == "quiver":
        print("relabelling is quotiented out, a row an isomorphism class: an orbit is a quiver and its opposite")


def print_questions(found: dict[str, Any]) -> None:
    """Print the audit of questions: classes, the best rules, and look-up."""
    for split, classes in found["classes"].items():
        shares = [f"{name} {100 * share:.2f} %" for name, share in list(classes["shares"].items())[:_PRINTED_CLASSES]]
        more = ", …" if classes["answers"] > len(shares) else ""
        print(f"{split}: {found['rows'][split]:,} questions, {classes['answers']:,} different answers: ", end="")
        print(", ".join(shares) + more)
    best = found["findings"][:_PRINTED_RULES]
    constant = [f for f in found["findings"][_PRINTED_RULES:] if f["name"].startswith("most frequent")]
    rows = [(f["name"], *map(_percent, (f["held_out"], *f["accuracies"].values()))) for f in (*best, *constant)]
    print_table(("accuracy in percent of", "held out", *found["known"]), rows, names=1)
    print(
        "held out: half of the training questions, answered by the rule that is learnt from the other half; that says "
        f"which of {len(found['findings'])} rules is best"
    )
    for split, known in found["known"].items():
        share = 100 * known["numbers"] / known["of_numbers"]
        print(
            f"{split}: {known['questions']:,} questions are training questions; of {known['of_numbers']:,} numbers in "
            f"them {known['numbers']:,} occur in training questions ({share:.2f} %)"
        )
