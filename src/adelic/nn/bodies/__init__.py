"""Bodies of networks, from embedded numbers to the states that a head reads.

One more body is a subclass of `Classifier` in a module of its own: it says how ids become vectors (`embed`), and how
these become the last states (`encode`). May import `numbers`, torch and the rest of `nn` except
`flops`.
"""
