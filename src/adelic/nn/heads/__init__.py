"""Heads: from the last state of a network to classes, or to numbers.

`classes` has those for one or several classes, `adelic` AOE's for numbers, digit by digit at each prime, and
`operations` the one that chooses numbers that were read and an exact operation: `exact` holds numbers in tensors, knows
the operations and writes them, `steps` has a second one. May import `numbers` and the rest of `nn`, but no body. One
more head is a module: a `torch.nn.Module` from (*, d_model) on, and, for numbers, how to decode what it says.
"""
