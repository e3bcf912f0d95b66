"""What `fuzz/attacks.py` attacks: a function an attack, called once a case, with random choices of its own."""
