"""Areas of attack: each module with `draw` and `judge` is one."""
