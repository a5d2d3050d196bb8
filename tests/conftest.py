import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# no deadline: a busy machine is not a defect; derandomised so that a failure can be seen again
settings.register_profile("diffpeaks", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("diffpeaks")
