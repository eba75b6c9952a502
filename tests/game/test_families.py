"""The order in which engines look into archives."""

import random

import pytest

from io_idtech_models.game.families import BASES, DEFAULT, FAMILIES, GUESSES, guessed

ORDERS = {
    "ioquake3": ["PAK0.pk3", "pak10.pk3", "pak2.pk3", "pakZ.pk3", "pak_a.pk3", "src.pk3dir", "zz-mod.PK3"],
    "quake3": ["pak0.pk3", "pak10.pk3", "pak2.pk3", "pak_a.pk3"],
    "rtcw": ["a.pk3", "pak0.pk3", "zz.pk3", "sp_pak1.pk3", "sp_pak2.pk3"],
    "rtcw-mp": ["a.pk3", "pak0.pk3", "zz.pk3", "mp_bin.pk3", "mp_pak0.pk3"],
    "doom3": ["game00.pk4", "pak000.pk4", "pak001.PK4", "pak_a.pk4", "paka.pk4", "zpak_english000.pk4"],
    "yamagi": [
        "pak0.pak", "pak2.pak", "pak10.PAK", "pak0.pk2", "pak3.pk3", "pak1.pkz", "pak9.zip", "a.pak", "pak07.pak",
        "pak100.pak", "z.pak", "a.pk2", "a.pk3", "a.pkz", "a.zip",
    ],
    "q2pro": ["pak.pak", "pak0.pak", "pak2.pkz", "pak10.pak", "pak99.pak", "A.pkz", "b.pak", "zzz.pkz"],
    "quake": ["pak.pak", "pak0.pak", "pak1.PAK", "pak10.pak", "z.pak"],
}  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_archives_from_the_weakest_on(family):
    rules, wanted = FAMILIES[family], ORDERS[family]
    assert all(rules.takes(name) or rules.takes_folder(name) for name in wanted)
    for seed in range(20):
        names = list(wanted)
        random.Random(seed).shuffle(names)
        assert sorted(names, key=rules.rank) == wanted


def test_what_is_no_archive_of_a_family():
    assert not FAMILIES["ioquake3"].takes("pak0.pk4")
    assert not FAMILIES["ioquake3"].takes("pak0.pk3dir")
    assert not FAMILIES["quake3"].takes_folder("src.pk3dir")
    assert not FAMILIES["rtcw"].takes("MP_pak0.pk3")
    assert not FAMILIES["rtcw-mp"].takes("sp_pak1.pk3")
    assert not FAMILIES["q2pro"].takes("pak0.pk3")
    assert not any(rules.takes("pak0.pk3.bak") or rules.takes("pk3") for rules in FAMILIES.values())


@pytest.mark.parametrize(
    ("folder", "names", "family"),
    [
        ("baseoa", ["pak0.PK3", "models"], "ioquake3"),
        ("mymod", ["src.pk3dir"], "ioquake3"),
        ("base", ["pak000.pk4", "default.cfg"], "doom3"),
        ("base", ["assets0.pk3"], "ioquake3"),
        ("ctf", ["pak0.pak", "extra.pk3"], "yamagi"),
        ("xatrix", ["a.pkz"], "yamagi"),
        ("baseq2", ["maps.pk3"], "yamagi"),
        ("BaseQ2", [], "yamagi"),
        ("mymod", ["models", "notes.zip"], ""),
    ],
)
def test_what_lies_in_a_folder_tells_the_engine(folder, names, family):
    for seed in range(3):
        random.Random(seed).shuffle(names)
        assert guessed(folder, names) == family


def test_the_tables_agree():
    assert DEFAULT in FAMILIES
    assert {family for _, family in GUESSES} <= set(FAMILIES)
    assert all(name == name.lower() for name in BASES)
    assert all(rules.label and rules.archives for rules in FAMILIES.values())
