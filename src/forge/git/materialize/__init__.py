"""Real directories for commands: the files of a branch, kept between uses and brought up to date by the difference."""
