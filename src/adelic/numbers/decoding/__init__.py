"""From coordinates to the number.

- `reconstruction`: Chinese remainders, rational reconstruction, the real place as a judge; `fast`: the same, compiled
- `redundancy`: back to the number although some digits are wrong: `candidates` finds numbers near a word of digits,
  `channels` says how likely they are

May import `places`, `array` and `space`; what needs no space (`reconstruction`, `fast`) is imported by `array`.
"""
