"""Runs: an experiment in its folder, from its data to its result; and many of them.

`runner` has the one function that runs an experiment of any kind: it prepares the `folder`, fits to the `development`
data, and judges once by the test split. `objectives` say what is trained and measured (a class, several, a number); one
more kind of answer is one more objective. `matrix` plans many runs, which `engines` execute here, in several processes
or on many machines. `listing` reads what folders hold, `predicting` asks a finished run about new rows. `folder` and
`listing` load no torch.
"""
