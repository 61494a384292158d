"""The HTTP face: routes translate, nothing else."""
