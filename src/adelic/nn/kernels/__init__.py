"""What takes the time, made fast: the encoder's steps on the CPU, and digits as tensor operations."""
