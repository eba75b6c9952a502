"""What is said of a file that a game loads in the place of the one that is written."""

import pytest

from io_idtech_models.assets.convert import convert
from io_idtech_models.assets.export_request import ExportRequest
from io_idtech_models.game.folders import Disk
from tests.samples import sample


@pytest.mark.parametrize(
    ("game", "target", "said"),
    [
        ("rtcw", "a.md3", "'a.mdc' lies beside it, which Return to Castle Wolfenstein loads in its place"),
        ("et", "a.md3", "'a.mdc' lies beside it, which Wolfenstein: Enemy Territory loads in its place"),
        ("etlegacy", "a.mdc", "'a.md3' lies beside it, which ET: Legacy loads in its place"),
        ("rtcw", "a.mdc", ""),
        ("etlegacy", "a.md3", ""),
        ("quake3", "a.md3", ""),
        ("et", "b.md3", ""),
    ],
)
def test_what_lies_beside_and_wins_is_named(tmp_path, game, target, said):
    for name in ("a.mdc", "a.md3"):
        (tmp_path / name).write_bytes(sample("minimal", name[2:]))
    line = convert(Disk().file(tmp_path / "a.mdc"), ExportRequest(tmp_path / target, game))
    assert (said in line) if said else ("lies beside" not in line)
