"""The contract: a question that two readers answer has one answer, in every world (CONTRIBUTING.md)."""
