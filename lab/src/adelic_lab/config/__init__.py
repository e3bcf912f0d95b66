"""What is to be run: data, model, training, seed, typed and checked before torch is loaded."""
