"""Small files converted into every format: the same files come of it, and the same is said, as before."""

import hashlib
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from io_idtech_models.assets.convert import Posing, convert
from io_idtech_models.assets.export_request import ExportRequest
from io_idtech_models.formats import ROWS, SKELETAL, by_name
from io_idtech_models.game.folders import Disk
from io_idtech_models.reporting import ModelError
from tests.samples import sample

FILES = [
    ("md2", "seams"), ("md2", "many_skins"), ("md3", "animated"), ("md3", "split_later"), ("mdl", "groups"),
    ("mdl", "odd_seams"), ("mdc", "animated"), ("mdc", "own_tables"), ("tag", "vehicle"), ("ase", "several_sets"),
    ("ase", "moved_texture"), ("lwo", "several_sets"), ("lwo", "smooth"), ("md5mesh", "several_meshes"),
    ("md5mesh", "arm"), ("mdm", "figure"), ("iqm", "arm"), ("iqm", "animated"), ("mdr", "walker"), ("mds", "figure"),
    ("md5anim", "wave"), ("mdx", "walk"),
]  # fmt: skip
MOTIONS = {"md5mesh": ("md5anim", "wave"), "mdm": ("mdx", "walk")}  # what moves models whose files have no motions


def requests(to):
    """Yield what to ask for, and how it is called here: each option by itself, each game, levels of detail."""
    plain = ExportRequest(Path(f"a{to.suffixes[0]}"))
    yield "plain", plain
    for option in to.options:
        yield option.name, replace(plain, options={option.name: 64 if option.most else not option.default})
    for game in to.games:
        yield game, replace(plain, game=game, shorten=True)
    if to.vertex.level_files:
        yield "levels", replace(plain, levels=(0.5,))


@pytest.mark.parametrize("to", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize(("name", "called"), FILES)
def test_a_conversion_writes_what_it_did(name, called, to, tmp_path, as_before):
    """Of each outcome is kept who had it."""
    row, beside, outcomes = by_name(name), [], defaultdict(list)
    source = tmp_path / f"model{row.suffixes[0]}"
    source.write_bytes(sample(called, name))
    if name in MOTIONS and (name == "mdm" or to.family is not SKELETAL):
        beside = [tmp_path / f"motion.{MOTIONS[name][0]}"]
        beside[0].write_bytes(sample(*MOTIONS[name][::-1]))
    posing = Posing([Disk().file(path) for path in beside])
    for asked, request in requests(to):
        folder = tmp_path / asked
        folder.mkdir()
        try:
            line = convert(Disk().file(source), replace(request, target=folder / f"written{to.suffixes[0]}"), posing)
        except ModelError as error:
            line = str(error)
        files = [f"{p.name} {hashlib.sha256(p.read_bytes()).hexdigest()[:8]}" for p in sorted(folder.iterdir())]
        outcomes["; ".join([line, *files]).replace(str(folder), "")].append(asked)
    as_before([f"{', '.join(outcomes[outcome])}: {outcome}" for outcome in outcomes])
