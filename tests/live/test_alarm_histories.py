"""Random histories of a stream: edits, restarts, torn steps, gaps. No alarm tests a window that began before it."""

import random

from live.campuses import PEGASUS, campus, counts
from live.test_stream import opened

from thresher.errors import BugError
from thresher.streams.step_release import RELEASED

ALARM = """
[streams.campus.alarms.{name}]
kind = "{kind}"
series = "hall"
threshold = {threshold}
window = {window}
"""
ALWAYS = "[streams.campus.alarms.crowd]"
WINDOWS = ("windows = [4, 12]", "windows = [3]", "windows = [7, 2]")
SESSIONS = 12


class History:
    """One stream, and a model of it: what was released, and since which released step each alarm has been declared."""

    def __init__(self, folder, seed):
        self.folder, self.dice = folder, random.Random(seed)
        self.alarms, self.since, self.released = {}, {}, {}
        self.grouped, self.sealed = self.dice.random() < 0.5, self.dice.random() < 0.5

    def edited(self):
        """The declarations, with some alarms added, changed, taken out or put back."""
        for _ in range(self.dice.randrange(3)):
            name = self.dice.choice("abc")
            if self.alarms.pop(name, None) is None or self.dice.random() < 0.6:
                kind = self.dice.choice(["high", "low", "jump", "change"])
                self.alarms[name] = (kind, self.dice.choice([400, 401]), self.dice.choice([1, 2, 5]))
        text = "".join(
            ALARM.format(name=name, kind=kind, threshold=threshold, window=window)
            for name, (kind, threshold, window) in self.alarms.items()
        )
        changes = [(ALWAYS, text + ALWAYS), (WINDOWS[0], self.dice.choice(WINDOWS))]
        changes += [("windows", PEGASUS)] if self.grouped else []
        changes += [("windows", 'key_file = "stream.key"\nwindows')] if self.grouped and self.sealed else []
        return campus(self.folder, *changes)

    def session(self, monkeypatch):
        with opened(self.edited()) as stream:
            shown = [record.to_bytes() for record in stream.records() if record.kind == RELEASED]
            assert shown == [self.released[step] for step in sorted(self.released)]
            for _ in range(self.dice.randrange(6)):
                step = stream.next_step + (self.dice.randrange(4) if self.dice.random() < 0.2 else 0)
                if self.dice.random() < 0.1 and self.torn(stream, step, monkeypatch):
                    return
                record = stream.put_counts(step, counts(step))
                if record.kind == RELEASED:
                    self.check(record)

    def torn(self, stream, step, monkeypatch):
        """Whether the step was charged and lost: no other step can be put after it."""
        with monkeypatch.context() as patch:
            patch.setattr(stream._state._drawer, "draw", lambda _: 1 / 0)
            try:
                stream.put_counts(step, counts(step))
            except BugError:
                return True
        return False

    def check(self, record):
        step = record.step
        assert step not in self.released
        self.released[step] = record.to_bytes()
        self.since = {content: self.since.get(content, step) for content in self.alarms.values()}
        for state in record.alarms:
            if state.name in self.alarms:
                kind, _, window = content = self.alarms[state.name]
                read = range(step - window + 1, step + 1) if kind in ("high", "low") else (step - window, step)
                whole = all(one in self.released and one >= self.since[content] for one in read)
                assert (state.crossed is not None) == whole


def test_alarms_test_whole_windows_that_are_later_than_they_are(tmp_path, monkeypatch, trials):
    for seed in range(trials(6, 200)):
        (folder := tmp_path / str(seed)).mkdir()
        history = History(folder, seed)
        for _ in range(SESSIONS):
            history.session(monkeypatch)
        assert history.released
