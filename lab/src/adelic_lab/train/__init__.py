"""Training: the data that it sees, its one loop, and its checkpoints.

| module | what it has |
|---|---|
| `loop` | the training loop: steps, epochs, evaluation |
| `steps` | one step, of networks and solvers alike: gradients, a learning rate, an optimizer's step |
| `sampler` | which examples a step has, as a function of (seed, step) |
| `data`, `objectives` | what training may see; what is predicted, with its loss and figures |
| `checkpoint`, `counters`, `signals` | model, optimizer and step in one file; how far a run is; who asks it to stop |
| `passes` | what a network says of a split; the threads that share a batch on the CPU |
| `world` | the processes that share a batch |

May import `config`, `results`, and of adelic `nn`, `data` and below; no model.
"""
