"""What a release says in several places is the same in all of them."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

import diffpeaks

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RECIPE = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text()


def test_the_first_section_of_the_changelog_is_this_version():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    version, when = re.fullmatch(r"(\S+) \((.*)\)", headings[0]).groups()
    assert version == diffpeaks.__version__ == str(Version(version))
    assert when == "unreleased" or re.fullmatch(r"\d{4}-\d{2}-\d{2}", when)


def test_the_citation_and_the_conda_recipe_are_of_this_version():
    assert f"\nversion: {diffpeaks.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'version: "{diffpeaks.__version__}"' in RECIPE


def test_the_conda_recipe_has_the_bounds_of_the_project():
    recipe = [Requirement(line) for line in re.findall(r"^    - ([\w-]+ [<>=].*)$", RECIPE, re.MULTILINE)]
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
    of_recipe = {requirement.name: requirement.specifier for requirement in recipe}
    of_project = {requirement.name: requirement.specifier for requirement in map(Requirement, wanted)}
    assert of_recipe.items() >= of_project.items()
