"""The page about diagnostics: its code runs, its pictures are what the command makes, and show what they should."""

import importlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib import pyplot
from PIL import Image

from thresher.cli import commands
from thresher.diagnostics.releases import MODEL_CAVEAT
from thresher.diagnostics.roc_price import epsilon_for_auc
from thresher.noise import NOT_PRIVATE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
PICTURES = ROOT / "docs" / "pictures" / "diagnostics"
SVG = "{http://www.w3.org/2000/svg}"
MADE_UP, PUBLIC = ("residuals", "roc", "binned"), ("earnings", "adult", "texts")
MODELS = {
    "residuals": ("ideal", "heteroscedastic", "nonlinear"),
    "roc": ("good", "weak"),
    "binned": ("M1", "M2"),
}
# Drawn parts of every panel; the first one is what is looked at.
PARTS = {"residuals": ("points",), "roc": ("roc-curve", "chance"), "binned": ("inside-band", "band")}


@pytest.fixture(scope="module")
def tool():
    return importlib.import_module("papers.pictures.diagnostic_pictures")


@pytest.fixture(scope="module")
def made(tool):
    return {picture.name: picture for picture in tool.made_up_pictures()}


@pytest.fixture(scope="module")
def panels(tool):
    return importlib.import_module("papers.pictures.diagnostic_panels")


def kept(name):
    return (PICTURES / f"{name}.svg").read_text(encoding="utf-8")


def parsed(text):
    return ElementTree.fromstring(text)  # noqa: S314 - our own


def words(element):
    return [" ".join("".join(text.itertext()).split()) for text in element.iter(f"{SVG}text")]


def named(root):
    """Groups by the names that we gave them."""
    return {
        group.get("id"): group for group in root.iter(f"{SVG}g") if re.match("(true|private)-", group.get("id", ""))
    }


def places(element):
    """Where marks lie, and the corners of lines."""
    marks = [(float(use.get("x")), float(use.get("y"))) for use in element.iter(f"{SVG}use")]
    paths = [path.get("d") for path in element.iter(f"{SVG}path") if path.get("id") is None]
    return np.array(marks + [(float(x), float(y)) for d in paths for x, y in re.findall(r"[ML] (\S+) (\S+)", d)])


def same(one, other):
    """The same words, named parts and places to a point of paper.

    Not the same bytes: those depend on the release of matplotlib, which writes its clippings and digits its own way.
    """
    first, second = parsed(one), parsed(other)
    if sorted(words(first)) != sorted(words(second)) or named(first).keys() != named(second).keys():
        return False
    there = named(second)
    pairs = [(places(part), places(there[name])) for name, part in named(first).items()]
    return all(one.shape == other.shape and np.allclose(one, other, atol=1.0) for one, other in pairs)


@pytest.mark.parametrize("name", MADE_UP)
def test_the_pictures_in_the_docs_are_what_the_command_makes(name, made, panels):
    assert same(kept(name), panels.svg_of(made[name]))


def test_the_same_picture_has_the_same_bytes_and_another_seed_another_picture(tool, made, panels, monkeypatch):
    """The comparison above can fail: it does when nothing but the seed is another one."""
    assert panels.svg_of(made["roc"]) == panels.svg_of(made["roc"])
    monkeypatch.setattr(tool, "_SEED", 8)
    others = {picture.name: panels.svg_of(picture) for picture in tool.made_up_pictures()}
    assert [name for name in MADE_UP if same(kept(name), others[name])] == []


def test_figures_on_the_page_are_those_of_the_pictures(made):
    rows = [row for name in MADE_UP for row in made[name].figures]
    assert len(rows) == 12
    assert [row for row in rows if row not in PAGE.splitlines()] == []


def test_every_picture_is_on_the_page_and_there(made):
    shown = re.findall(r"!\[[^\]]+\]\(pictures/diagnostics/(\w+)\.svg\)", PAGE)
    assert sorted(shown) == sorted(file.stem for file in PICTURES.iterdir()) == sorted([*MADE_UP, *PUBLIC])


@pytest.mark.parametrize("name", [*MADE_UP, *PUBLIC])
def test_a_picture_is_small_letters_are_letters_and_nothing_comes_from_elsewhere(name):
    text = kept(name)
    root = parsed(text)
    assert len(text) < 180_000
    assert root.find(f"{SVG}title").text in words(root)
    assert not re.search(r"<script|<image|href=\"http|@import", text)
    assert "dc:date" not in text
    names = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", [*MADE_UP, *PUBLIC])
def test_private_panels_say_what_they_cost_and_do_not_protect(name):
    parts = named(parsed(kept(name)))
    private = [part for part in parts if f"{part}-caption" in parts and part.startswith("private-")]
    assert len(private) == (4 if name == "adult" else len(MODELS.get(name, "ab")))
    for part in private:
        caption = " ".join(words(parts[f"{part}-caption"]))
        assert caption.startswith(f"{NOT_PRIVATE}. Cost: epsilon ")
        assert MODEL_CAVEAT in caption
        assert words(parts[f"{part}-stamp"]) == [NOT_PRIVATE]


@pytest.mark.parametrize("name", PUBLIC)
def test_of_public_data_only_releases_are_drawn(name):
    assert not [part for part in named(parsed(kept(name))) if part.startswith("true-")]
    assert "true plot" not in kept(name)


@pytest.mark.parametrize("name", MADE_UP)
def test_true_and_private_stand_side_by_side(name):
    parts = named(parsed(kept(name)))
    for model in MODELS[name]:
        true, private = (places(parts[f"{side}-{model}-{PARTS[name][0]}"]) for side in ("true", "private"))
        assert true[:, 0].max() < private[:, 0].min(), "the private one is on the right"
        assert true[:, 1].min() < private[:, 1].max()
        assert private[:, 1].min() < true[:, 1].max(), "and as high as the true one"
        assert any("not a release" in text for text in words(parts[f"true-{model}-caption"]))
        assert min(len(true), len(private)) >= 8
        assert {f"{side}-{model}-{part}" for side in ("true", "private") for part in PARTS[name]} <= parts.keys()


@pytest.mark.parametrize("name", MADE_UP)
def test_no_panel_is_blank_and_no_letter_runs_off_the_paper(name, made, panels):
    """Rendered as pixels: green in every true panel, blue in every private one, white paper all around."""
    figure, dots, written = panels.drawn(made[name]), 80, io.BytesIO()
    figure.savefig(written, format="png", dpi=dots)
    with Image.open(written) as image:
        pixels = np.asarray(image.convert("RGB")).astype(np.int64)
    height, width, _ = pixels.shape
    assert (pixels[[0, -1]] == 255).all()
    assert (pixels[:, [0, -1]] == 255).all()
    assert len(figure.axes) == 2 * len(MODELS[name])
    for axes in figure.axes:
        low, high = axes.get_position().get_points()
        inside = pixels[
            round((1 - high[1]) * height) : round((1 - low[1]) * height), round(low[0] * width) : round(high[0] * width)
        ]
        red, green, blue = (inside[:, :, colour] for colour in range(3))
        is_green, is_blue = (green - red > 40) & (green - blue > 20), (blue - red > 40) & (blue - green > 15)
        drawn, other = (is_green, is_blue) if axes.get_gid().startswith("true-") else (is_blue, is_green)
        assert drawn.sum() > 100, axes.get_gid()
        assert not other.any(), axes.get_gid()


def test_python_on_the_page_runs_and_so_do_its_commands(tmp_path, monkeypatch, capsys):
    """All blocks in one empty folder, in order; the commands use what the first one left there."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 3
    printed = []
    for block in blocks:
        exec(compile(block, "docs/diagnostics.md", "exec"), {})  # noqa: S102 - our own
        printed.append(capsys.readouterr().out)
    pyplot.close("all")
    caption, price, area, remaining = printed[0].splitlines()
    assert MODEL_CAVEAT in caption
    assert (price, remaining) == tuple(re.findall(r"print\(.*\)  # ([\d.]+)", blocks[0]))
    assert 0.5 < float(area) < 1
    (shell,) = [block for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) if "thresher diagnose" in block]
    for line in shell.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "thresher"
        done = CliRunner().invoke(commands, [*arguments, "--yes"])
        assert done.exit_code == 0, done.output
        assert "loans" in done.output
    for file in ("binned.svg", "roc.svg", "residuals.png", "mine.png"):
        assert (tmp_path / file).stat().st_size > 5000


def test_prices_of_an_area_are_those_computed(soak):
    """All of them when soaking: each takes seconds. The one for 0.02 is in the code above."""
    errors = re.search(r"\| AUC off by at most, in 95 % of runs \| (.*) \|", PAGE)[1].split(" | ")
    shown = re.search(r"\| rows · ε, estimated \| (.*) \|", PAGE)[1].split(" | ")
    assert shown[errors.index("0.02")] == "710"  # 5,000 rows at 0.142
    pairs = list(zip(errors, shown, strict=True))
    for error, size in pairs if soak else pairs[:1]:
        assert f"{round(epsilon_for_auc(error, 5000).epsilon.fraction * 5000):,}" == size


def test_the_command_writes_them_and_says_what_is_left_out(tool, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("THRESHER_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", ["diagnostic_pictures", "--output", str(tmp_path / "new")])
    tool.main()
    assert sorted(file.stem for file in (tmp_path / "new").iterdir()) == sorted(MADE_UP)
    assert capsys.readouterr().out.count("is left out: no folder of data was named") == 4


def test_a_folder_that_is_not_there_is_refused_before_anything_is_written(tmp_path):
    """As a program of its own, from another folder."""
    command = [sys.executable, "-m", "papers.pictures.diagnostic_pictures", "--data", "no", "--output", "new"]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode
    assert "the folder of data no is not there" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "new").exists()
