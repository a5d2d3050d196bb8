"""Kernels of our own: what Triton compiles, and who launches what several kernels do together."""
