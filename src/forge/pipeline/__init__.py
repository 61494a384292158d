"""The way from a brain dump to a deliverable: what is decided in each phase, and how the phases follow one another."""
