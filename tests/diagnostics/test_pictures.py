"""Pictures as files and as text: opened with real readers and looked at."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from diagnostics.made_releases import MAKERS, STAMPED
from PIL import Image

from thresher.diagnostics.pictures import check_picture, display_of, save_picture
from thresher.diagnostics.sparklines import WIDTH, sparkline
from thresher.errors import ArgumentError

SVG = "{http://www.w3.org/2000/svg}"


def svg_of(release, folder):
    return ElementTree.parse(save_picture(release, folder / "plot.svg")).getroot()  # noqa: S314 - our own


def words(root):
    return " ".join("".join(text.itertext()).strip() for text in root.iter(f"{SVG}text"))


def part(root, name):
    (found,) = [each for each in root.iter() if each.get("id") == name]
    return found


def vertices(element):
    """The corners of the first path inside an element."""
    path = next(element.iter(f"{SVG}path")).get("d")
    return np.array([[float(x), float(y)] for x, y in re.findall(r"[ML] (\S+) (\S+)", path)])


@pytest.mark.parametrize("kind", MAKERS)
def test_a_png_can_be_opened_and_is_not_blank(kind, tmp_path):
    with Image.open(save_picture(MAKERS[kind](), tmp_path / "plot.png")) as image:
        assert image.format == "PNG"
        assert image.width == 960
        assert 600 < image.height < 1000
        assert "Software" not in image.info
        pixels = np.asarray(image.convert("RGB")).astype(np.int64)
    white = (pixels == 255).all(axis=2)
    assert 0.5 < white.mean() < 0.99
    # Blue of what is drawn, and the grey letters of the caption in the lowest fifth, left to right.
    blue = pixels[:, :, 2] - pixels[:, :, 0] > 60
    assert blue.sum() > 500
    caption = ~white[-pixels.shape[0] // 5 :]
    columns = np.flatnonzero(caption.any(axis=0))
    assert caption.sum() > 1000
    assert columns.max() < 940, "the caption runs off the paper"
    assert not caption[-5:].any()


@pytest.mark.parametrize("kind", MAKERS)
def test_a_stamp_is_red_and_across(kind, tmp_path):
    reds = {}
    for stamp in ("", STAMPED):
        with Image.open(save_picture(MAKERS[kind](stamp=stamp), tmp_path / "plot.png")) as image:
            pixels = np.asarray(image.convert("RGB")).astype(np.int64)
        reds[stamp] = int((pixels[:, :, 0] - pixels[:, :, 2] > 40).sum())
    assert reds[STAMPED] > reds[""] + 5000


@pytest.mark.parametrize("kind", MAKERS)
def test_an_svg_has_the_caption_and_the_stamp_as_text(kind, tmp_path):
    release = MAKERS[kind]()
    root = svg_of(release, tmp_path)
    assert root.tag == f"{SVG}svg"
    assert release.caption in words(root)
    assert STAMPED not in words(root)
    stamped = svg_of(MAKERS[kind](stamp=STAMPED), tmp_path)
    assert words(part(stamped, "stamp")) == STAMPED
    assert words(part(stamped, "caption")).startswith(f"{STAMPED}. Cost: epsilon 0.25 (bins 0.05, counts 0.2)")


def test_the_curve_in_an_svg_rises_from_corner_to_corner(tmp_path):
    release = MAKERS["roc"]()
    root = svg_of(release, tmp_path)
    curve, chance = vertices(part(root, "roc-curve")), vertices(part(root, "chance"))
    assert (np.diff(curve[:, 0]) >= 0).all()
    assert (np.diff(curve[:, 1]) <= 0).all(), "in SVG upwards is less"
    assert np.allclose(curve[[0, -1]], chance[[0, -1]])
    # Back from the paper to rates, corner by corner.
    rates = (curve - chance[0]) / (chance[-1] - chance[0])
    released = np.stack([release.false_positive_rate, release.true_positive_rate], axis=1)
    assert np.abs(np.interp(rates[:, 0], *released.T) - rates[:, 1]).max() < 1e-5
    assert len(curve) > 10
    assert "AUC = 0.840" in words(root)


def test_the_points_in_an_svg_are_the_bins(tmp_path):
    root = svg_of(MAKERS["binned"](), tmp_path)
    drawn = [len(list(part(root, f"{where}-band").iter(f"{SVG}use"))) for where in ("inside", "outside")]
    assert drawn == [10, 2]
    assert len(list(part(svg_of(MAKERS["residuals"](), tmp_path), "points").iter(f"{SVG}use"))) == 300


def test_a_density_in_an_svg_is_one_image(tmp_path):
    root = svg_of(MAKERS["residuals"](points=6000), tmp_path)
    assert len(list(root.iter(f"{SVG}image"))) == 1
    assert (tmp_path / "plot.svg").stat().st_size < 300_000


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("ending", ["svg", "png", "SVG"])
def test_the_same_release_gives_the_same_bytes(kind, ending, tmp_path):
    one, other = (save_picture(MAKERS[kind](), tmp_path / f"{name}.{ending}").read_bytes() for name in "ab")
    assert one == other
    assert b"dc:date" not in one


def test_settings_of_the_user_change_nothing_and_are_left_alone(tmp_path):
    """A fresh interpreter with other colours and sizes writes the same bytes, and has them still."""
    before = save_picture(MAKERS["roc"](), tmp_path / "here.svg").read_bytes()
    program = f"""
import sys; sys.path.insert(0, "tests")
import matplotlib
matplotlib.rcParams["figure.facecolor"] = "black"
matplotlib.rcParams["font.size"] = 31
from diagnostics.made_releases import roc
from thresher.diagnostics.pictures import save_picture
save_picture(roc(), {str(tmp_path / "there.svg")!r})
print(matplotlib.rcParams["font.size"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["31.0"], done.stderr
    assert (tmp_path / "there.svg").read_bytes() == before


def test_refusals_come_before_anything_is_written(tmp_path):
    release, folder = MAKERS["roc"](), tmp_path / "folder.svg"
    folder.mkdir()
    for name in ("plot", "plot.pdf", "plot.svg.gz"):
        with pytest.raises(ArgumentError, match=r"\.svg or \.png"):
            save_picture(release, tmp_path / name)
    for path in (tmp_path / "no" / "folder.svg", folder):
        with pytest.raises(ArgumentError, match="path"):
            save_picture(release, path)
        with pytest.raises(ArgumentError, match="path"):
            check_picture(path)
    with pytest.raises(ArgumentError, match="release"):
        save_picture([0.5], tmp_path / "plot.svg")
    assert list(tmp_path.iterdir()) == [folder]
    assert check_picture(str(tmp_path / "plot.svg")) == tmp_path / "plot.svg"


@pytest.mark.parametrize("kind", MAKERS)
def test_text_pictures_fit_a_terminal(kind):
    text = sparkline(MAKERS[kind]())
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= WIDTH
    assert STAMPED not in text
    assert sparkline(MAKERS[kind](stamp=STAMPED)).startswith(f"{STAMPED}: ")
    assert display_of(MAKERS[kind]()).release.kind == kind


def test_the_curve_in_text_rises():
    text = sparkline(MAKERS["roc"]())
    assert "AUC 0.840" in text
    rows = [line.split("|", 1)[1] for line in text.splitlines() if "|" in line]
    assert len(rows) == 20
    firsts, lasts = zip(*((row.find("#"), row.rfind("#")) for row in rows), strict=True)
    assert min(firsts) >= 0, "a line without the curve"
    assert list(firsts) == sorted(firsts, reverse=True)
    assert list(lasts) == sorted(lasts, reverse=True)
    assert rows[-1][0] == "#"
    assert rows[0][59] == "#"
    assert "AUC undefined under noise" in sparkline(MAKERS["roc"](auc=None))


def test_the_density_in_text_is_dark_where_counts_are():
    text = sparkline(MAKERS["residuals"]())
    rows = [line.split("|", 1)[1].ljust(60) for line in text.splitlines() if "|" in line]
    assert set(rows[0] + rows[-1]) == {" "}
    assert rows[10][0] == "@"
    assert rows[4][0] == " "
    assert rows[4][59] not in " @"
    assert "-1.5" in text
    assert " 1.5" in text


def test_bars_in_text_point_the_right_way():
    lines = sparkline(MAKERS["binned"]()).splitlines()
    flagged = [line for line in lines[2:] if line.endswith("!")]
    assert len(lines) == 14
    assert len(flagged) == 2
    for line in flagged:
        assert "+0.200" in line
        assert line[22:].index("|") < line[22:].index(")") < line[22:].rindex("#")
    assert "76 of 100 bins are not shown" in sparkline(MAKERS["binned"](bins=100))


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e300])
def test_strange_releases_are_drawn_all_the_same(scale, tmp_path):
    """Nothing counted, ranges of no width to speak of: no division by zero, no empty text."""
    release = MAKERS["residuals"]()
    wide = max(scale, 1e-300)
    plain = type(release)(
        **{
            name: getattr(release, name) for name in ("epsilon", "split", "rows", "rows_public", "caveats", "histogram")
        },
        fitted_range=(-wide, wide),
        residual_range=(0.0, wide),
        counts=np.zeros((2, 2), dtype=np.int64),
        points=np.empty((0, 2)),
    )
    assert max(map(len, sparkline(plain).splitlines())) <= WIDTH
    if scale == 0.0:
        return
    flat = MAKERS["binned"](bins=1)
    assert sparkline(flat)
    assert save_picture(flat, tmp_path / "plot.svg").stat().st_size > 1000
