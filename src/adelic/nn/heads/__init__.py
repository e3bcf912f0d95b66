"""Heads: from the last state of a network to classes, or to numbers.

`classes` has those for one or several classes, `adelic` AOE's for numbers, digit by digit at each prime, and `rivals`
what other papers use for numbers. May import `numbers` and the rest of `nn`, but no body. One more head is a module: a
`torch.nn.Module` from (*, d_model) on, and, for numbers, how to decode what it says.
"""
