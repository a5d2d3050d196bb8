"""What every room may use: refusals, files written whole or not at all, arrays that nobody can change."""
