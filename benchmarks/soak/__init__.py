"""Long reliability runs. The tests call the same code for a few seconds each."""
