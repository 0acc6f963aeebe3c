"""Imports point down only: the contracts of `pyproject.toml`, run as a test, and shown to have teeth."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = (
        "import sys; sys.path.insert(0, 'src'); from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    )
    return subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)


def test_imports_point_down():
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout


def test_an_import_that_points_up_is_caught(tmp_path):
    for folder in ("src", "papers"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    errors = tmp_path / "src" / "thresher" / "errors.py"
    errors.write_text(errors.read_text() + "\nimport thresher.noise.entropy\n")
    done = lint(tmp_path)
    assert done.returncode != 0
    assert "errors" in done.stdout
