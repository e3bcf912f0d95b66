"""Every public name says what it is, and shows it by an example that runs."""

import importlib
import inspect

import pytest

MODULES = (
    "adelic",
    "adelic.errors",
    "adelic.numbers",
    "adelic.data",
    "adelic.acd",
    "adelic.nn",
    "adelic_lab",
    "adelic_lab",
    "adelic_lab.report.arithmetic",
    "adelic_lab.plans",
    "adelic.number_theory",
    "adelic_lab.models.solvers",
    "adelic.integrations.padic_ml",
    "adelic.integrations.sklearn",
    "adelic.integrations.transformers",
)


def functions_and_classes(module):
    """Yield (name, object) of what a module offers, tasks' modules included."""
    names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    for name in names:
        thing = getattr(module, name)
        if inspect.ismodule(thing) and thing.__name__.startswith("adelic.acd."):
            own = [(key, value) for key, value in vars(thing).items() if not key.startswith("_")]
            yield from ((f"{name}.{key}", v) for key, v in own if getattr(v, "__module__", "") == thing.__name__)
        elif (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__.startswith("adelic"):
            yield name, thing


def documented(thing):
    """Return the docstrings of a function, or of a class with its public methods and properties."""
    docs = {"": inspect.getdoc(thing)}
    if inspect.isclass(thing):
        public = {key: value for key, value in vars(thing).items() if not key.startswith("_")}
        docs |= {
            key: inspect.getdoc(value)
            for key, value in public.items()
            if inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod)
        }
    return docs


@pytest.mark.parametrize("module", MODULES)
def test_public_names_are_documented_by_examples(module):
    found = list(functions_and_classes(importlib.import_module(module)))
    assert found
    silent = [f"{name} {key}".strip() for name, thing in found for key, doc in documented(thing).items() if not doc]
    assert silent == []
    no_example = [name for name, thing in found if not any(">>>" in doc for doc in documented(thing).values())]
    assert no_example == []
