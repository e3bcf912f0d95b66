"""Write padic_disks.json: disks of padic-ml, their products and their sums with points.

python tests/oracles/padic_disks.py        (needs padic-ml, which needs JAX)
"""

import json
import random
from importlib.metadata import version
from pathlib import Path

PRIMES = (2, 3, 5, 7)
COUNT = 40


def fields(array):
    """Return what a PArray holds as lists; null is the logarithm of the radius 0."""
    radius = [None if r == -float("inf") else r for r in array.log_radius.tolist()]
    return {"unit": array.unit.tolist(), "valuation": array.valuation.tolist(), "log_radius": radius}


def main():
    """Write the file."""
    import padic_ml

    rng = random.Random(63)
    groups = []
    for p in PRIMES:
        arrays = []
        for lowest in (-2, 0, 0):  # products have at most two digits below p^0, which is as far as the windows go
            units = [rng.choice([u for u in range(-40, 41) if u % p or not u]) for _ in range(COUNT)]
            valuations = [rng.randint(lowest, 3) for _ in range(COUNT)]
            radii = [rng.choice([-float("inf"), -2.5, -4.75, *range(-9, -1)]) for _ in range(COUNT)]
            arrays.append((units, valuations, radii))
        x, y, z = (padic_ml.array(unit=u, valuation=v, log_radius=r, p=p) for u, v, r in zip_arrays(arrays))
        point = padic_ml.array(unit=z.unit, valuation=z.valuation, p=p)
        group = {"p": p, "x": fields(x), "y": fields(y), "product": fields(x * y), "norm": x.abs().tolist()}
        # padic-ml adds at integers alone: `center` of a negative valuation is not the centre.
        groups.append(group | {"z": fields(z), "point": fields(point), "sum": fields(z + point.center)})
    meta = {
        "tool": f"padic-ml {version('padic-ml')} with JAX {version('jax')}",
        "command": "python tests/oracles/padic_disks.py",
        "encoding": "a PArray as its fields; log_radius null is −∞",
    }
    text = json.dumps({"meta": meta, "groups": groups}).replace(', "', ',\n"')
    Path(__file__).with_suffix(".json").write_text(text + "\n", encoding="utf-8")


def zip_arrays(arrays):
    """Return the lists of each as JAX's arrays."""
    import jax.numpy as jnp

    return [(jnp.array(u), jnp.array(v), jnp.array(r, dtype=jnp.float32)) for u, v, r in arrays]


if __name__ == "__main__":
    main()
