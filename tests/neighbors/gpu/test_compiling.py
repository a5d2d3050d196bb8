"""That kernels are compiled is said once, and not where they lie in the cache of Triton."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton", minversion="3.4")

CHECK = """
import sys
import warnings
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from diffpeaks.neighbors.gpu.devices import tell_of_compiling


@triton.jit
def first(at, size: tl.constexpr):
    tl.store(at + tl.arange(0, size), 0)


def compiled(size):  # for a card that need not be there
    constants = {"at": "*i32", "size": "constexpr"}
    triton.compile(ASTSource(first, constants, {"size": size}), target=GPUTarget("cuda", 90, 32))


tell_of_compiling()
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    compiled(32)
    compiled(64)
print(sum("kernels for the GPU are being compiled" in str(one.message) for one in told))
"""


def test_it_is_said_when_kernels_are_compiled(tmp_path):
    # Triton reads sources of kernels from files, and asks once where its cache is
    script, cache = tmp_path / "check.py", str(tmp_path / "cache")
    script.write_text(CHECK)
    environment = {**os.environ, "TRITON_CACHE_DIR": cache, "TRITON_INTERPRET": "0"}
    found = [
        subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [process.stdout.strip() for process in found] == ["1", "0"]
