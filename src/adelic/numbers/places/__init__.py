"""The coordinates of many numbers: `finite`, `columns` the p-adic ones; `real`, `balls`, `wide` the real ones.

May import `kernels` (when used), `hensel`, `rationals`, `window`. Another operation is a function of `finite` and a
method of `balls.RealPlace`.
"""
