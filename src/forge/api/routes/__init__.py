"""One module for each noun. Routes translate: they call one use case and give its value a shape."""
