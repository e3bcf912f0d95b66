"""Fast kernels: the encoder's steps on the CPU, and digits as tensor operations."""
