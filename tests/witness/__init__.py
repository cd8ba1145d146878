"""Real controllers and a real proxy are asked what policylint is asked, and their answers are kept (README.md)."""
