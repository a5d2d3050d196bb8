"""Checksums of published files."""

from __future__ import annotations

import hashlib
from pathlib import Path

# Of MS1M, as the page on data sets of learn-to-cluster prints them; of the labels it prints none.
PUBLISHED_MD5 = {
    "part0_train.bin": "acbbc780948e7bfaaee093ef9fce2ccb",
    "part1_test.bin": "ced42d80046d75ead82ae5c2cdfba621",
    "part0_train/faiss_k_80.npz": "5e4f6c06daf8d29c9b940a851f28a925",
    "part1_test/faiss_k_80.npz": "d4a7f95b09f80b0167d893f2ca0f5be5",
    "pretrained_gcn_d_ms1m.pth": "213598e70ddbc50f5e3661a6191a8be1",
    "pretrained_gcn_s_ms1m.pth": "3251d6e7d4f9178f504b02d8238726f7",
    "pretrained_gcn_d_iop_ms1m.pth": "314fba47b5156dcc91383ad611d5bd96",
    "pretrained_gcn_v_ms1m.pth": "020236d4e8dbff975360f08cb47109c0",
    "pretrained_gcn_e_ms1m.pth": "315ff08f28f14bc494dd36158c11e900",
    "pretrained_lgcn_ms1m.pth": "97fc6e52d1b5e907eabeb01e7b0825f9",
}


def check_md5(path: Path, expected: str) -> None:
    """Refuse a file with another checksum than that."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "md5").hexdigest()
    if found != expected:
        raise ValueError(
            f"{str(path)!r} has the MD5 {found}, not {expected}: it is cut off, damaged, or another file; "
            "fetch it again"
        )
