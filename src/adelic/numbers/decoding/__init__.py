"""From coordinates to the number.

- `reconstruction`: Chinese remainders, rational reconstruction, the real place as a judge; `fast`: the same, compiled
- `redundancy`: back to the number although some digits are wrong

May import `finite`, `real`, `array` and `space`; `reconstruction` and `fast` need no space, and `array` imports them.
"""
