"""Fast kernels: the encoder's steps on the CPU, and digits as tensor operations.

`fused` computes a layer of the encoder with less memory traffic than PyTorch's own operations, `compiled` has its loops
(numba), and `lifting` is Hensel's lifting on tensors. May import `numbers` and torch, nothing else of `nn`. Tests
compare what is computed here with plain torch operations, or with `numbers`.
"""
