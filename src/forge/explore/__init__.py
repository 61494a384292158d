"""From a vague wish to a framed problem and an evaluated solution: register, tools, modes, and a turn in two phases."""
