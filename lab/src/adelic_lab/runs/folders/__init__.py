"""What run folders hold, read without torch: results, how far a run has come, the lists of all runs and searches.

`files` names the files and reads the finished ones, `progress` the counters of a checkpoint; `listing` and `searches`
list a folder's runs and searches. Nothing here may import torch: `adelic runs list` would wait seconds for it.
"""
