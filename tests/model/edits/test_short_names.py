"""Names that a format or a game has no room for: what becomes of them in a conversion."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from io_idtech_models.formats import ROWS, by_name
from io_idtech_models.formats.common import quake3
from io_idtech_models.formats.md2 import file as md2_file
from io_idtech_models.formats.md3 import file as md3_file
from io_idtech_models.formats.mdl import file as mdl_file
from io_idtech_models.formats.mdm import file as mdm_file
from io_idtech_models.formats.mdr import file as mdr_file
from io_idtech_models.formats.mds import file as mds_file
from io_idtech_models.formats.mdx import file as mdx_file
from io_idtech_models.model.clips import group, numbered
from io_idtech_models.model.edits.short_names import (
    short_animations,
    short_frames,
    short_names,
    short_skeleton,
    short_vertex,
)
from io_idtech_models.model.skeletal import Animation, SkeletalModel, Skeleton
from io_idtech_models.model.vertex import Surface, Tag, VertexModel
from tests.samples import load, sample

LONG = "models/characters/male_npc/marine/very_long_name_of_a_material_for_a_helmet.tga"


def shortened(*names, size=63, pictures=False):
    return short_names(names, lambda name: size, pictures)


# -- one name


def test_what_fits_stays():
    assert shortened("a", "b" * 63, "ü" * 31, "") == {}


def test_a_path_is_cut_at_its_front():
    assert shortened(LONG) == {LONG: "male_npc/marine/very_long_name_of_a_material_for_a_helmet.tga"}
    windows = "C:\\Users\\somebody\\Documents\\models\\of all kinds\\of my game\\textures\\skin.tga"
    assert shortened(windows) == {windows: "Documents\\models\\of all kinds\\of my game\\textures\\skin.tga"}


def test_games_look_for_pictures_whatever_their_ending():
    """So that goes first, where it is all that is too much."""
    name = "models/" + "x" * 54 + ".tga"
    assert shortened(name, pictures=True) == {name: name[:-4]}
    assert shortened(name) == {name: "x" * 54 + ".tga"}
    assert shortened(LONG, pictures=True) == {LONG: "male_npc/marine/very_long_name_of_a_material_for_a_helmet"}


def test_a_file_name_that_is_too_long_by_itself_keeps_its_end():
    name = "models/" + "a" * 40 + "b" * 40 + ".tga"
    assert shortened(name) == {name: "a" * 19 + "b" * 40 + ".tga"}


def test_what_is_no_path_is_cut_at_its_end():
    assert shortened("tag_" + "x" * 70) == {"tag_" + "x" * 70: "tag_" + "x" * 59}


def test_characters_stay_whole():
    for name in ("日" * 30, "a/" + "日" * 30):
        assert shortened(name) == {name: "日" * 21}


def test_names_stay_apart():
    names = ["x" * 70, "x" * 80, "x" * 63, "X" * 64, "x" * 70]
    found = shortened(*names)
    assert found == {"x" * 70: "x" * 61 + "~b", "x" * 80: "x" * 61 + "~c", "X" * 64: "X" * 61 + "~d"}
    paths = [f"{folder}{'y' * 40}/{'z' * 50}.tga" for folder in "abc"]
    assert list(shortened(*paths).values()) == [f"{'z' * 50}{end}.tga" for end in ("", "~b", "~c")]


def test_what_is_there_keeps_its_name():
    """Whatever comes first."""
    assert shortened("a/" + "x" * 62, "x" * 62) == {"a/" + "x" * 62: "x" * 61 + "~b"}


def test_an_ending_goes_where_there_is_no_room_for_it_and_what_tells_names_apart():
    assert list(shortened("a" * 9 + ".jpeg", "a" * 10 + ".jpeg", size=6).values()) == ["a.jpeg", "aaaa~b"]


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)


@example(["a" * 9 + ".jpeg", "a" * 10 + ".jpeg"], 6, False)  # no room for what tells them apart and the ending
@given(st.lists(texts, max_size=12), st.integers(6, 24), st.booleans())
def test_any_names(names, size, pictures):
    found = shortened(*names, size=size, pictures=pictures)
    assert set(found) == {name for name in names if len(name.encode()) > size}
    assert all(len(new.encode()) <= size for new in found.values())
    whole = [found.get(name, name) for name in dict.fromkeys(names)]
    new = [name.casefold() for name in found.values()]
    assert len(set(new)) == len(new)
    assert not set(new) & {name.casefold() for name in names if name not in found}
    assert len(whole) == len(set(names))


# -- frames and animations


def test_frames_keep_their_numbers():
    names = [f"{name}{i:02d}" for name in ("walk_forward_slow", "walk_forward_fast") for i in range(1, 6)] + ["stand01"]
    found = short_frames(names, lambda name: 15)
    new = [found.get(name, name) for name in names]
    assert all(len(name) <= 15 for name in new)
    assert len(set(new)) == 11
    assert [a.count for a in group(new)] == [5, 5, 1]
    assert new[-1] == "stand01"


def test_frames_that_fit_keep_their_name_from_others():
    names = ["walk_forward_1", "walk_forward_slow1"]
    assert short_frames(names, lambda name: 14) == {"walk_forward_slow1": "walk_forwar~b1"}


def test_frames_take_no_name_that_another_has_with_its_number():
    names = ["stand_exactly15", "stand_exactly15b", "stand_exactly15c", "stand_exactly16b", "stand_exactly16"]
    found = short_frames(names, lambda name: 15)
    new = [found.get(name, name) for name in names]
    assert len(set(new)) == 5
    assert (new[0], new[4]) == ("stand_exactly15", "stand_exactly16")
    assert all(len(name) <= 15 for name in new)


def test_frames_of_one_name_keep_one():
    assert short_frames(["x" * 20] * 3, lambda name: 15) == {"x" * 20: "x" * 15}


def animation(name, frames=12):
    nothing = np.zeros((frames, 0, 3))
    return Animation(name, [], np.zeros(0, np.int32), nothing, np.zeros((frames, 0, 4)), 24.0, np.zeros((frames, 2, 3)))


@pytest.mark.parametrize(
    ("count", "slow", "fast"), [(9, "walk_forward_", "walk_forwar~b"), (100, "walk_forward", "walk_forward_")]
)
def test_animations_stay_apart(count, slow, fast):
    """Their names become those of frames, behind which numbers have two digits or as many as it takes."""
    names = ["walk_forward_slow", "walk_forward_fast", "run"]
    found, notes = short_animations([*map(animation, names), animation(names[0], count)], 15)
    assert [a.name for a in found] == [slow, fast, "run", slow]
    assert notes == [
        "names of animations are shortened to fit the names of their frames: "
        f"'walk_forward_slow' is now '{slow}', "
        f"'walk_forward_fast' is now '{fast}'"
    ]
    frames = [frame for a in found[:3] for frame in numbered(a.name, a.num_frames)]
    assert [(a.name, a.count) for a in group(frames)] == [("walk_forward", 12), (fast.rstrip("_"), 12), ("run", 12)]
    same, nothing = short_animations([animation("run"), animation("x" * 12)], 15)
    assert ([a.name for a in same], nothing) == (["run", "x" * 12], [])


# -- models


def vertex_model(**own):
    one = np.zeros((1, 3, 3), np.float32)
    surface = Surface("s" * 70, one, np.zeros((1, 3), np.int32), np.zeros((3, 2), np.float32), [LONG, "skin"], one)
    tag = Tag("tag_" + "t" * 70, np.zeros((1, 3), np.float32), np.zeros((1, 3, 3), np.float32))
    return VertexModel("m" * 70, ["f" * 20], [surface], [tag], **own)


def test_a_vertex_model():
    model = vertex_model()
    found, notes = short_vertex(model, by_name("md3"), "quake3")
    (surface,) = found.surfaces
    assert (found.name, found.frame_names) == ("m" * 63, ["f" * 15])
    assert surface.name == "s" * 63
    assert surface.shaders == ["male_npc/marine/very_long_name_of_a_material_for_a_helmet", "skin"]
    assert found.tags[0].name == "tag_" + "t" * 59
    assert notes == [
        f"names of models are shortened to 63 bytes: '{'m' * 70}' is now '{'m' * 63}'",
        f"names of surfaces are shortened to 63 bytes: '{'s' * 70}' is now '{'s' * 63}'",
        f"names of shaders are shortened to 63 bytes: '{LONG}' is now '{surface.shaders[0]}'",
        f"names of tags are shortened to 63 bytes: 'tag_{'t' * 70}' is now 'tag_{'t' * 59}'",
        f"names of frames are shortened to 15 bytes: '{'f' * 20}' is now '{'f' * 15}'",
    ]
    assert model.surfaces[0].name == "s" * 70, "what was given stays as it was"
    data = by_name("md3").dump(found)
    assert load(data).surfaces[0].name == "s" * 63


def test_skins_keep_their_ending_and_md2_names_no_surface():
    found, notes = short_vertex(vertex_model(), by_name("md2"), "quake2")
    assert found.surfaces[0].shaders[0] == LONG[LONG.index("male_npc") :]
    assert found.surfaces[0].name == "s" * 70
    assert [note.split(" are")[0] for note in notes] == ["names of skins", "names of frames"]


def test_names_of_the_format_itself_are_written_as_they_are():
    """They are longer than the field has room for only as text: their bytes fit."""
    model = load(sample("odd_names"))
    found, notes = short_vertex(model, by_name("md3"), "quake3")
    assert notes == []
    assert found is model
    assert short_vertex(load(sample("animated")), by_name("md3"), "quake3")[1] == []


def skeletal(names):
    count = len(names)
    parents, upright = np.arange(-1, count - 1, dtype=np.int32), np.tile([1.0, 0, 0, 0], (count, 1))
    return SkeletalModel("m" * 70, Skeleton(names, parents, np.zeros((count, 3)), upright), [])


JOINTS = ["Bip01 " + "x" * 60 + end for end in ("a", "b")] + ["hand"]


@pytest.mark.parametrize(("name", "game", "size"), [("mdm", "et", 63), ("md5mesh", "quake2remaster", 47)])
def test_joints_are_called_the_same_in_model_and_animation(name, game, size):
    row = by_name(name)
    motion = animation("walk")
    motion.joint_names = list(JOINTS)
    model, (found,), notes = short_skeleton(skeletal(list(JOINTS)), [motion], row, game)
    assert model is not None
    assert model.skeleton.names == found.joint_names
    assert [len(joint) for joint in found.joint_names] == [size, size, 4]
    assert len(set(found.joint_names)) == 3
    assert any(note.startswith(f"names of joints are shortened to {size} bytes: ") for note in notes)
    alone = short_skeleton(None, [motion], row.skeletal.animation, game)[1]
    assert alone[0].joint_names == found.joint_names, "also if it is converted by itself"


@pytest.mark.parametrize("game", ["doom3", "format"])
def test_doom_3_takes_names_of_any_length(game):
    model = skeletal(list(JOINTS))
    assert short_skeleton(model, [], by_name("md5mesh"), game) == (model, [], [])


# -- the rows


def test_rooms_are_those_of_the_files_fields():
    own = {"mdm": mdm_file, "mdr": mdr_file, "mds": mds_file, "mdx": mdx_file, "md3": md3_file}
    fields = {name: module.NAME_SIZE for name, module in own.items()} | {"md2": md2_file.SKIN_SIZE}
    fields |= dict.fromkeys(("mdc", "tag"), quake3.NAME_SIZE)
    frames = {row: module.FRAME_NAME_SIZE for row, module in (("md2", md2_file), ("md3", md3_file), ("mdl", mdl_file))}
    frames["mdc"] = quake3.FRAME_NAME_SIZE
    tags = fields | {"mdr": mdr_file.TAG_NAME_SIZE}
    for row in ROWS:
        for kind, size in row.name_sizes.items():
            assert size == {"frame": frames, "tag": tags}.get(kind, fields)[row.name] - 1
    assert {row.name for row in ROWS if not row.name_sizes} == {"md5mesh", "md5anim", "ase", "lwo", "iqm"}
