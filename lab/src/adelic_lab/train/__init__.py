"""Networks: built from an experiment, trained by the one loop, saved and resumed, on one device or on several.

`fitting` is the entrance: it builds the model, and gives it to the `loop`, which trains by epochs; their steps are
taken by `steps`, the training loop of networks and solvers. `checkpoint` makes a resumed run equal to one that was not
interrupted; `world` is what the loop asks of several processes, and `devices` starts `runs` on each.
May import `nn`, `data` and the descriptions of `training`; no solver and no classical model. One more body of a
network belongs in `adelic.nn.bodies`, not here.
"""
