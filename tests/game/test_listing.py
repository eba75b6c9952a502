"""Files by patterns, and the models of a folder, an archive or a game."""

import pytest

from io_idtech_models.game.folders import Disk
from io_idtech_models.game.listing import members, models_in
from tests.packs import put_files, put_pack
from tests.stores import Held

NAMES = (
    "models/players/Sarge/upper.md3", "models/players/sarge/LOWER.MD3", "models/players/sarge/blue.tga",
    "models/weapons2/bfg/bfg.md3", "models/ammo.md3", "top.md3", "scripts/a.shader", "models/x/tris.md2",
)  # fmt: skip
FILES = {name: name.encode() for name in NAMES}


def stores(tmp_path):
    put_files(tmp_path / "loose", FILES)
    put_pack(tmp_path / "p.pk3", FILES)
    put_pack(tmp_path / "p.pak", dict(reversed(FILES.items())))
    return [*(Disk().store(tmp_path / name) for name in ("loose", "p.pk3", "p.pak")), Held(FILES)]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("**", NAMES),
        ("*", ["top.md3"]),
        ("models/*", ["models/ammo.md3"]),
        ("MODELS/AMMO.md3", ["models/ammo.md3"]),
        ("/models\\ammo.md3", ["models/ammo.md3"]),
        ("models/**", [name for name in NAMES if name.startswith("models/")]),
        ("models/weapons2/*", []),
        ("models/weapons2/**/*.md3", ["models/weapons2/bfg/bfg.md3"]),
        ("**/*.md?", [name for name in NAMES if name[:-1].lower().endswith(".md")]),
        ("**/sarge/*", [name for name in NAMES if "/sarge/" in name.lower()]),
        ("models/**/**/bfg.md3", ["models/weapons2/bfg/bfg.md3"]),
        ("models/**/**/**/**/ammo.md3", ["models/ammo.md3"]),
        ("models/players/s[ab]rge/[!bl]*", ["models/players/Sarge/upper.md3"]),
        ("models", []),
        ("", []),
    ],
)
def test_patterns(tmp_path, pattern, found):
    for store in stores(tmp_path):
        names = [name.lower() for name, _ in members(store, pattern)]
        assert names == sorted(name.lower() for name in found), store
        assert [file.read().decode().lower() for _, file in members(store, pattern)] == names


def test_a_pattern_of_many_stars_takes_no_time(tmp_path):
    deep = put_pack(tmp_path / "p.pk3", {"a/" * 200 + "b": b""})
    assert members(Disk().store(deep), "**/a/" * 40 + "c") == []


def test_models(tmp_path):
    for store in stores(tmp_path):
        found = models_in(store, {".md3": "vertex", ".md2": "other"})
        assert [(each.folder.lower(), each.file.name, each.kind) for each in found] == [
            ("models", "ammo.md3", "vertex"),
            ("models/players/sarge", "LOWER.MD3", "vertex"),
            ("models/players/sarge", "upper.md3", "vertex"),
            ("models/weapons2/bfg", "bfg.md3", "vertex"),
            ("models/x", "tris.md2", "other"),
            ("", "top.md3", "vertex"),
        ]
        assert [each.file.name for each in models_in(store, {".md3": ""}, "models/*")] == ["ammo.md3"]


def test_models_below_a_folder_of_an_archive(tmp_path):
    store = Disk().store(put_pack(tmp_path / "p.pk3", FILES) / "models/players")
    found = [(each.folder, each.file.name) for each in models_in(store, {".md3": ""})]
    assert found == [("Sarge", "LOWER.MD3"), ("Sarge", "upper.md3")]
    assert models_in(Disk().store(tmp_path / "p.pk3/mod"), {".md3": ""}) == []
