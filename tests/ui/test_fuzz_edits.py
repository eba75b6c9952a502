"""A short run of the fuzzer of edits: always the same sequences, on samples; see `fuzz.edits`."""

import pytest

from fuzz.edits import session, worker
from fuzz.edits.run import FORMATS
from fuzz.edits.script import SCRIPT
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
