"""What holds for every conversion: a file that its format reads comes of it, or a sentence that says why not."""

import pytest

from io_idtech_models.assets.convert import WAYS, Posing, convert
from io_idtech_models.assets.export_request import ExportRequest
from io_idtech_models.assets.load import load
from io_idtech_models.formats import MOTION, ROWS, SKELETAL, VERTEX
from io_idtech_models.game.folders import Disk
from io_idtech_models.reporting import ModelError, collected_warnings
from tests.samples import format_of, sample_params
from tests.small_files import SAMPLES


def dealt():
    """Return samples with the formats that they become: a third of these each, and of each two formats some sample."""
    found = []
    for row in ROWS:
        samples = sample_params(format_name=row.name, family=None)
        hands = min(3, len(samples))
        for nth, to in enumerate(ROWS):
            own = samples[nth % hands :: hands]
            found += [pytest.param(*sample.values, to, id=f"{sample.id}-{to.name}") for sample in own]
    return found


def put(folder, data, to):
    """Write a file, with what lies with it; returns its path, and where it goes."""
    row = format_of(data)
    source = folder / f"a{row.suffixes[0]}"
    source.write_bytes(data)
    for other in (other for other in ROWS if other in row.skeletal.companions):
        source.with_suffix(other.suffixes[0]).write_bytes(next(iter(SAMPLES[other.name].values())))
    return source, folder / f"b{to.suffixes[0]}"


@pytest.mark.parametrize(("data", "to"), dealt())
def test_a_file_or_a_sentence(tmp_path, data, to):
    source, target = put(tmp_path, data, to)
    row = format_of(data)
    with collected_warnings():
        try:
            line = convert(Disk().file(source), ExportRequest(target, shorten=True))
        except ModelError as error:
            assert "\n" not in str(error)
            assert not target.exists()
            return
        assert (row.family, to.family) in WAYS
        assert "\n" not in line
        again = load(Disk().file(target))
    assert again.row is to
    assert to.family.describe(again.content)


@pytest.mark.parametrize("family", [VERTEX, SKELETAL, MOTION], ids=repr)
def test_some_sample_of_every_format_becomes_every_other_of_its_family(tmp_path, family):
    for row in (row for row in ROWS if row.family is family):
        bare = not any(getattr(row.load(data, "x"), "surfaces", True) for data in SAMPLES[row.name].values())
        for to in (to for to in ROWS if to.family is family):
            if (bare and not to.tags) or not (row.tags or to.vertex.meshes):
                continue  # one has tags alone, the other none
            assert any(_converts(tmp_path, data, to) for data in SAMPLES[row.name].values()), (row.name, to.name)


def _converts(folder, data, to):
    source, target = put(folder, data, to)
    with collected_warnings():
        try:
            convert(Disk().file(source), ExportRequest(target, shorten=True), Posing())
        except ModelError:
            return False
    return True
