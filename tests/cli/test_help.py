"""The help fits on one screen: commands in groups, usual options first, and all of them on request."""

import importlib

import click
import pytest
from cli.running import thresher

from thresher.cli import COMMANDS

SHORT = ["plan", "ask", "refine", "init", "ledger", "ledger show", "ledger verify"]
RARE = ("--mechanism", "--bound", "--levels", "--first-epsilon", "--show", "--confidence", "--false-alarm-rate")


def help_of(command, folder, flag="--help"):
    shown = thresher(*command.split(), flag, cwd=folder)
    assert shown.returncode == 0, shown.stderr
    return shown.stdout


def test_commands_are_grouped_with_one_line_each(tmp_path):
    lines = help_of("", tmp_path).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    listed = [line[10:].split()[0] for line in lines if line[:10].strip() in ("", "Start", "Ask", "Check", "More")]
    assert listed == list(COMMANDS)
    assert [line.split()[0] for line in lines if line[2:3].isupper() and line[10:].split()[0] in COMMANDS] == [
        "Start",
        "Ask",
        "Check",
        "More",
    ]
    text = " ".join(" ".join(lines).split())
    for code in ("0 done", "1 an audit", "2 refused", "3 over budget", "4 source", "70 a fault", "130 interrupted"):
        assert code in text


@pytest.mark.parametrize("command", SHORT)
def test_the_help_of_a_command_fits_on_one_screen(command, tmp_path):
    lines = help_of(command, tmp_path).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert not any(rare in "\n".join(lines).split() for rare in RARE)


@pytest.mark.parametrize("command", ["plan", "ask", "refine"])
def test_help_all_lists_every_option(command, tmp_path):
    short, every = help_of(command, tmp_path), help_of(command, tmp_path, "--help-all")
    assert "rarer options: --help-all" in short
    module, attribute, *_ = COMMANDS[command]
    options = getattr(importlib.import_module(f"thresher.cli.{module}"), attribute).params
    for option in options:
        if isinstance(option, click.Option):
            assert max(option.opts, key=len) in every
    assert help_of(command, tmp_path) == short
