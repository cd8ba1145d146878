"""Shapes of large input, and the cost of each: bench/growth.py measures them."""
