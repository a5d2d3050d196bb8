"""What searches take of memory: predicted beforehand, and kept below a limit."""
