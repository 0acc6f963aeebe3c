"""No module of Thresher can reach a generator other than the entropy of `noise/`."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "thresher"
BANNED = {"random", "numpy.random", "secrets", "uuid", "scipy.stats"}
# The one file that may ask the operating system for randomness.
ENTROPY = SOURCE / "noise" / "entropy.py"
# The files that may use numpy's generator: they make data for the papers' tables, which must be the same everywhere.
PAPERS = SOURCE.parents[1] / "papers"
SCENES = {
    PAPERS / "mide" / "synthetic.py",
    PAPERS / "probe" / "outliers.py",
    PAPERS / "streams" / "stream_data.py",
    PAPERS / "personal" / "personal_data.py",
}
MODULES = sorted([*SOURCE.rglob("*.py"), *PAPERS.rglob("*.py")])


def generators_in(text: str) -> list[str]:
    """The names of generators that a module's text mentions by import or by attribute."""
    found, aliases = [], {}
    for node in ast.walk(ast.parse(text)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            aliases |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            aliases |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
            names = [part.value for part in node.args if isinstance(part, ast.Constant)]  # import_module("random")
        for name in names:
            head, _, rest = name.partition(".")
            full = f"{aliases.get(head, head)}.{rest}" if rest else aliases.get(head, head)
            found += [banned for banned in BANNED if f"{full}.".startswith(f"{banned}.")]
            found += [full] if full in {"os.urandom", "os.getrandom"} else []
    return found


def test_no_module_mentions_a_generator():
    allowed = {ENTROPY: {"os.urandom"}, **{key: {"numpy.random"} for key in SCENES}}
    found = {path: set(generators_in(path.read_text())) - allowed.get(path, set()) for path in MODULES}
    assert len(found) > 200
    assert {path.name: generators for path, generators in found.items() if generators} == {}


def test_no_release_can_reach_the_scenery():
    """The contracts of pyproject.toml say the same of imports; this sees every mention."""
    for path in SOURCE.rglob("*.py"):
        names = [
            node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        roots = {getattr(node, "module", None) or node.names[0].name for node in names}
        assert not any(root.split(".")[0] == "papers" for root in roots), path


@pytest.mark.parametrize(
    "text",
    [
        "import random",
        "import random as r",
        "from random import gauss",
        "import numpy.random",
        "from numpy import random",
        "from numpy.random import default_rng",
        "import numpy as np\nx = np.random.default_rng()",
        "import numpy\nx = numpy.random.laplace()",
        "import importlib\nimportlib.import_module('random')",
        "__import__('secrets')",
        "import secrets",
        "import os\nos.urandom(8)",
        "from os import urandom\nurandom(8)",
        "from scipy import stats",
    ],
)
def test_the_check_sees_every_way_in(text):
    assert generators_in(text)


def test_drawing_noise_loads_no_generator_of_pythons_or_numpys():
    """In a fresh interpreter whose `random` and `numpy.random` refuse to load, all draws work."""
    program = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name == "random" or name.startswith("numpy.random") or name.split(".")[0] in {"scipy", "click", "rich"}:
            raise ImportError(name)
import numpy
for name in [m for m in sys.modules if m == "random" or m.startswith("numpy.random")]:
    del sys.modules[name]
sys.meta_path.insert(0, Refuse())
from thresher.noise import chain, discrete_laplace, geometric, history_shift, refine, smallest_epsilon
noise = discrete_laplace("0.1", 100_000)
refine(noise, "0.1", "0.2"); chain(["0.1", "0.2"], 5); geometric(1, 3); smallest_epsilon("0.05", 3)
history_shift(noise[:5], "0.1", "0.2", "0.05")
print("drawn")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "drawn\n", done.stderr
