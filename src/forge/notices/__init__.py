"""Telling people who are not looking: what a notice says, the channels it goes out by, and the sender behind them."""
