"""What `info` and `check` say of every sample: the same as before."""

import json
from collections import defaultdict
from dataclasses import MISSING

import numpy as np
import pytest

from io_idtech_models.formats import ROWS, SKELETAL, by_name
from io_idtech_models.model.clips import Clip
from io_idtech_models.model.limits.games import GAMES
from io_idtech_models.model.transforms import chain, to_matrices
from io_idtech_models.reporting import LimitError
from tests.small_files import SAMPLES

EVERY = [(name, called) for name, files in SAMPLES.items() for called in files]


@pytest.mark.parametrize(("name", "called"), EVERY)
def test_what_is_said_of_a_sample_is_what_was(name, called, as_before):
    """Of each sentence there is which games are meant; formats are those that have no place for something."""
    row = by_name(name)
    asset = row.unpack(row.read(SAMPLES[name][called]), "a name")
    content, by_sentence = asset.content, defaultdict(list)
    for game in row.games:
        problems = row.check(content, game)
        problems += [problem for motion in asset.animations[:2] for problem in row.check_motion(motion, game)]
        for problem in problems:
            by_sentence[str(problem)].append(game)
    for sentence in row.problems(content):
        by_sentence[sentence].append("problem")
    for other in ROWS if row.family is SKELETAL else ():
        for sentence in other.lost(content):
            by_sentence[sentence].append(other.name)
    facts = json.loads(json.dumps(row.family.facts(content)), parse_float=lambda text: f"{float(text):.4g}")
    as_before([
        row.family.describe(content),
        *(f"{key}: {json.dumps(value)}" for key, value in facts.items()),
        *(f"{', '.join(games)}: {sentence}" for sentence, games in by_sentence.items()),
    ])  # fmt: skip


def table_of(row):
    """Return what the table says of a format, and what follows from that."""
    said = row.kind._asdict()
    found = {name: [value.name] if hasattr(value, "name") else value for name, value in said.items()}
    found["companions"] = [other.name for other in row.skeletal.companions]
    found |= {"dropped_with": [other.name for other in row.skeletal.dropped_with], "motions": row.has_motions}
    found |= {name: getattr(row, name) for name in ("suffixes", "tags", "skins", "is_text", "lies_beside", "has_model")}
    found |= {"name_sizes": dict(row.name_sizes), "skins_in_slots": row.skins_in_slots, "games": row.games}
    return found | {f"option {each.name}": (each.default, each.most) for each in row.options}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_table_says_of_a_format_what_it_did(row, as_before):
    """Operators and the command line promise it: which options there are, and what they are when left out."""
    as_before([f"{name}: {value}" for name, value in table_of(row).items() if value not in (None, [], (), "")])


@pytest.mark.parametrize("game", GAMES)
def test_a_game_takes_what_it_did(game, as_before):
    """Limits that are none are not said."""
    found, said = GAMES[game], []
    for name, limits in found.formats.items():
        own = [(key, value, limits._field_defaults.get(key, MISSING)) for key, value in limits._asdict().items()]
        shown = [f"{key}={sorted(v) if isinstance(v, frozenset) else v}" for key, v, usual in own if v != usual]
        said.append(f"{name}: {', '.join(shown)}")
    as_before([found.label, str([found.folder, found.one_of, found.choice, found.scales]), *said])


JOINING, MIXING = ([row for row in ROWS if getattr(row.motion, what)] for what in ("joins_clips", "torso"))


@pytest.mark.parametrize("row", JOINING, ids=lambda row: row.name)
def test_parts_of_a_motion_are_what_they_were(row, as_before):
    for data in SAMPLES[row.name].values():
        structs = row.read(data)
        whole = row.motion_in(structs, "whole")
        half = whole.num_frames // 2
        clips = [Clip("a", 0, max(half, 1), 20.0), Clip("b", half, whole.num_frames - half, 10.0)]
        motions = [row.motion_in(structs, clip.name, clip) for clip in clips]
        assert [motion.num_frames for motion in motions] == [clip.length for clip in clips]
        assert [motion.frame_rate for motion in motions] == [20.0, 10.0]
        part = row.part(whole, "part", range(half, whole.num_frames), 12.0)
        assert (part.name, part.num_frames, part.frame_rate) == ("part", whole.num_frames - half, 12.0)
        as_before(row.dump_joined(motions))
        as_before(row.dump(part))


@pytest.mark.parametrize("row", MIXING, ids=lambda row: row.name)
def test_legs_and_torso_are_mixed_as_they_were(row, as_before):
    for called, data in SAMPLES[row.name].items():
        motion = row.unpack(row.read(data), "x").animations[0]
        for aim in ((0.0, 0.0), (10.0, -20.0)):
            try:
                mixed = row.mixed(motion, motion.of_frames(np.arange(motion.num_frames)[::-1]), "mixed", aim)
            except LimitError as error:
                as_before([called, str(error)])
                continue
            places, axes = chain(mixed.parents, mixed.positions, mixed.rotations)
            shown = np.concatenate((places, to_matrices(axes)[..., 0, :], to_matrices(axes)[..., 1, :]), axis=-1)
            as_before([called, mixed.name, *(" ".join(f"{x + 0.0:.2f}" for x in joint) for joint in shown[-1])])
