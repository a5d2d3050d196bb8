"""A fit as frozen values, and all that follows its labels."""
