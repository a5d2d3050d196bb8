"""Methods that learn to cluster from labelled samples of other identities, in torch.

Needs `pip install diffpeaks[learned]`. Importing diffpeaks, or its other baselines, does not import this.
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("torch is not installed: pip install 'diffpeaks[learned]'") from error

from diffpeaks.baselines.learned.gcn_v import GCNV
from diffpeaks.baselines.learned.gcn_ve import GCNVE
from diffpeaks.baselines.learned.lgcn import LGCN
from diffpeaks.baselines.learned.ltc import LTC
from diffpeaks.baselines.learned.published import load_published_graph

__all__ = ["GCNV", "GCNVE", "LGCN", "LTC", "load_published_graph"]
