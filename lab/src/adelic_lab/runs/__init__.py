"""Runs: an experiment in its folder, from its data to its result; and many of them.

`runner` has the one function that runs an experiment of any kind: it prepares the folder, fits, and has the model
judged by the test split (`judging`). `matrix` plans many runs, which `engines` execute here, in several processes or on
many machines; `devices` shares one run among several, and `machine` says what processes take of this one. `folders`
makes, reads and lists the folders of runs; `predicting` asks a finished run about new rows. `folders` and `machine`
load no torch.
"""
