"""The lower bounds of pyproject.toml as constraints for pip: what `make test-minimum` installs."""

import re
import tomllib
from pathlib import Path

# extras whose packages the library itself calls, and which the tests install
EXTRAS = ("plot", "parquet", "report")
# tables that users may give, which old versions of scikit-learn know in their old form
FRAMES = ("pandas", "polars")


def main() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    frames = [requirement for requirement in extras["dev"] if requirement.startswith(FRAMES)]
    for requirement in sorted({*project["dependencies"], *frames}.union(*(extras[name] for name in EXTRAS))):
        name, lowest = re.match(r"([\w-]+)>=([\w.]+)", requirement).groups()
        print(f"{name}=={lowest}")


if __name__ == "__main__":
    main()
