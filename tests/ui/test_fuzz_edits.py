"""A short run of the fuzzer of edits: always the same sequences, on samples; see `fuzz.edits`."""

import pytest

from fuzz.edits import players, session, worker
from fuzz.edits.run import FORMATS
from fuzz.edits.script import SCRIPT
from tests.ui.player.players import active_player
from tests.ui.scene import operator

SEQUENCES = 8  # of each format
pytestmark = [pytest.mark.once, pytest.mark.usefixtures("empty_scene")]


@pytest.fixture(autouse=True)
def samples_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(session, "CORPUS", tmp_path)


@pytest.mark.parametrize("name", FORMATS)
def test_no_edit_goes_wrong_in_silence(name):
    found = [line for line in worker.findings(0, float("inf"), SEQUENCES, [name]) if "finding" in line]
    assert not found, SCRIPT.format(**found[0])


def test_what_is_not_as_shown_is_seen(monkeypatch):
    """A file of what was there before an edit is a finding: else nobody knows that the fuzzer sees anything."""
    old = []

    def stale(way, path):
        def export(filepath, **options):
            operator(way, path)(filepath=filepath, **options)
            old.append(path.read_bytes())
            path.write_bytes(old[0])

        return operator(way, path) if way == "import" else export

    monkeypatch.setattr(session, "operator", stale)
    subject = session.Subject("md3", "animated")
    assert not session.run(subject, []).kind
    found = session.run(subject, [("move_vertices", 1), ("move_key", 2)])
    assert (found.kind, "units off in frame" in found.text) == ("silent", True)


@pytest.mark.parametrize("what", ["a surface", "a tag"])
def test_a_player_that_is_not_as_shown_is_seen(monkeypatch, what):
    def save_and_edit(folder):
        save(folder)
        upper = active_player().parts["upper"]
        if what == "a tag":
            upper.delta_location.z = 2.0
        else:
            next(block for block in upper.children if block.type == "MESH").delta_location.z = 2.0

    save = players.save
    monkeypatch.setattr(players, "save", save_and_edit)
    found = session.run(session.Subject("player", "own"), [])
    wanted = "'tag_torso' of 'lower' in frame" if what == "a tag" else "'upper' in frame"
    assert (found.kind, found.text.partition(" in frame")[0] + " in frame") == ("silent", wanted)
