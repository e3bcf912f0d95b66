"""Runs: an experiment in its folder, from its data to its result.

`runner` is the one function that runs an experiment of any kind; `folder` keeps its files, `objectives` say what is
trained and measured (a class, several, a number), `development` gives a search or a user the training and validation
rows alone. May import the rest of `training`, and no benchmark. One more kind of answer is an objective.
"""
