"""What the API gives and takes, as documented models; values of the application are read into them by attribute."""
