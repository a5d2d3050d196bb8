"""The commands of `diffpeaks`, a file for each: `add_arguments` says what it takes, `run` does it."""
