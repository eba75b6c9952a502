"""What games take, at each limit and one beyond it, and that the default refuses nothing that real files have."""

import numpy as np
import pytest

from io_idtech_models.model import limits
from io_idtech_models.model.limits import ERROR, GAMES, WARNING, check, engine_surface_name
from io_idtech_models.model.vertex import Surface, Tag, VertexModel
from tests.samples import SAMPLES, corpus_params, dump, load, minimal

STRIPPING = ("quake3", "rtcw", "et", "etlegacy")
NO_STRIPPING = ("gzdoom", "format")
# game: (vertices, triangles, frames, tags, surfaces, shaders), and what of it the game itself refuses.
TABLE = {
    "quake3": ((999, 1999, 1024, 16, 32, 256), {"vertices", "triangles"}),
    "rtcw": ((999, 1999, 1024, 16, 32, 256), {"vertices", "triangles"}),
    "et": ((1024, 2049, 1024, 16, 32, 256), {"vertices", "triangles"}),
    "etlegacy": ((10000, 20000, 1024, 16, 32, 256), {"vertices", "triangles"}),
    "gzdoom": ((None, None, None, None, 32, 256), set()),
    "format": ((4096, 8192, 1024, 16, 32, 256), set()),
}
KINDS = ("vertices", "triangles", "frames", "tags", "surfaces", "shaders")
ROWS = [
    pytest.param(game, kind, limit, kind in refused, id=f"{game}-{kind}")
    for game, (row, refused) in TABLE.items()
    for kind, limit in zip(KINDS, row, strict=True)
    if limit is not None
]


def surface(name="body", frames=1, vertices=3, triangles=1, shaders=1) -> Surface:
    positions = np.zeros((frames, vertices, 3), np.float32)
    names = [f"models/x/{i}" for i in range(shaders)]
    triangles, uvs = np.zeros((triangles, 3), np.int32), np.zeros((vertices, 2), np.float32)
    return Surface(name, positions, triangles, uvs, names, normals=np.ones_like(positions))


def tag(name="tag_x", frames=1) -> Tag:
    return Tag(name, np.zeros((frames, 3), np.float32), np.zeros((frames, 3, 3), np.float32))


def model(surfaces=None, tags=(), frames=1) -> VertexModel:
    return VertexModel("m", [f"f{i}" for i in range(frames)], [surface()] if surfaces is None else surfaces, list(tags))


def with_count(kind: str, count: int) -> VertexModel:
    if kind == "frames":
        return model([surface(frames=count)], frames=count)
    if kind == "tags":
        return model(tags=[tag(f"tag_{i:03d}z") for i in range(count)])
    if kind == "surfaces":
        return model([surface(f"part{i:03d}") for i in range(count)])
    return model([surface("torso", **{kind: count})])


def test_the_table_names_every_game():
    assert set(TABLE) == set(GAMES)


@pytest.mark.parametrize(("game", "kind", "limit", "refused"), ROWS)
def test_at_the_limit_and_one_beyond(game, kind, limit, refused):
    assert check(with_count(kind, limit), game) == []
    (problem,) = check(with_count(kind, limit + 1), game)
    assert problem.severity == (ERROR if refused else WARNING)
    text = str(problem)
    assert str(limit) in text.split()
    assert str(limit + 1) in text.split()
    assert kind in text
    assert GAMES[game].label in text
    assert text.startswith("the model has" if kind in {"frames", "tags", "surfaces"} else "'torso' has")


@pytest.mark.parametrize("kind", ["vertices", "triangles", "frames", "tags"])
def test_gzdoom_counts_no_more_than_its_surfaces(kind):
    assert check(with_count(kind, 30000 if kind in {"vertices", "triangles"} else 1500), "gzdoom") == []


@pytest.mark.parametrize("game", GAMES)
class TestReach:
    """Coordinates are sixteen bits of a sixty-fourth."""

    @pytest.mark.parametrize("value", [-512.0, -512.0 - 1 / 128, 511.984375, 511.99, 0.0])
    def test_what_rounds_to_a_code_is_taken(self, game, value):
        whole = model()
        whole.surfaces[0].positions[0, 1, 2] = value
        assert check(whole, game) == []
        dump(whole)

    @pytest.mark.parametrize("value", [-512.01, 512.0 - 1 / 128, 512.0, 600.0, -1e30, float("nan"), float("inf")])
    def test_anything_else_is_refused_with_its_frame(self, game, value):
        whole = model([surface(), surface("torso", frames=3)], frames=3)
        whole.surfaces[1].positions[2, 1, 0] = value
        (problem,) = check(whole, game)
        assert problem.severity == ERROR
        assert "'torso' reaches" in str(problem)
        assert "nan" not in str(problem)
        assert "frame 2" in str(problem)
        assert "512" in str(problem)


@pytest.mark.parametrize("game", GAMES)
class TestNames:
    """A field of 64 bytes holds 63 and a NUL."""

    @pytest.mark.parametrize("name", ["x" * 63, "ü" * 31 + "x", "日" * 21])
    def test_63_bytes_fit(self, game, name):
        whole = model([surface(name)], [tag(name)])
        whole.surfaces[0].shaders = [name]
        assert [p for p in check(whole, game) if p.severity == ERROR] == []
        dump(whole)

    @pytest.mark.parametrize("name", ["x" * 64, "ü" * 32, "日" * 21 + "x"])
    @pytest.mark.parametrize("kind", ["surface", "tag", "shader"])
    def test_64_bytes_do_not(self, game, name, kind):
        whole = model([surface(name if kind == "surface" else "torso")], [tag(name if kind == "tag" else "tag_x")])
        whole.surfaces[0].shaders = [name if kind == "shader" else "skin"]
        (problem,) = check(whole, game)
        assert problem.severity == ERROR
        text = str(problem)
        assert name in text
        assert kind in text
        assert "of 64 bytes" in text
        assert "63" in text
        assert ("'torso'" in text) == (kind == "shader")

    @pytest.mark.parametrize("name", [b"y" * 64, b"\xfc" * 63], ids=["without a NUL", "Latin-1"])
    def test_a_name_of_the_source_has_room(self, game, name):
        spec = minimal()
        spec.surfaces[0].name = spec.tags[0][0].name = name
        spec.surfaces[0].shaders = [(name, 0)]
        whole = load(spec.pack())
        assert len(whole.surfaces[0].name.encode()) > 63
        assert [p for p in check(whole, game) if p.severity == ERROR] == []
        assert dump(whole) == spec.pack()


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Arm_L", "arm"), ("a_b", "a"), ("_b", "_b"), ("ab", "ab"),
        ("l_legs", "l_legs"), ("x__", "x"),
        ("body_10", "body_10"), ("a_é", "a_é"), ("ÄRM_1", "Ärm"), ("", ""),
        ("_", "_"), ("A", "a"), ("h_head_1", "h_head"),
    ],
)  # fmt: skip
def test_names_as_the_engine_keeps_them(name, kept):
    assert engine_surface_name(name) == kept


@pytest.mark.parametrize("game", STRIPPING)
def test_names_that_collide_are_warned_about(game):
    problems = check(model([surface("Arm_L"), surface("head"), surface("arm_R")]), game)
    assert {p.severity for p in problems} == {WARNING}
    texts = "; ".join(map(str, problems))
    assert "'arm_R' and 'Arm_L' have one name" in texts
    assert "'Arm_L' is called 'arm'" in texts
    assert "'head'" not in texts


@pytest.mark.parametrize("game", STRIPPING)
def test_lower_case_alone_changes_nothing(game):
    assert check(model([surface("Head"), surface("Torso")]), game) == []
    (problem,) = check(model([surface("Head"), surface("HEAD")]), game)
    assert problem.severity == WARNING


@pytest.mark.parametrize("game", NO_STRIPPING)
def test_games_that_keep_names_as_they_are(game):
    assert check(model([surface("Arm_L"), surface("arm_R"), surface("arm_l")]), game) == []


@pytest.mark.parametrize("game", GAMES)
def test_surfaces_without_a_name(game):
    whole = model([surface(""), surface("", vertices=30000)])
    texts = [str(p) for p in check(whole, game)]
    assert all(text.startswith("'surface 1' has 30000 vertices") for text in texts)
    assert bool(texts) is (game != "gzdoom")


# -- the default stands in nobody's way


@pytest.mark.parametrize("name", SAMPLES["md3"])
def test_the_default_refuses_no_sample(name):
    assert [p for p in check(load(SAMPLES["md3"][name]), "format") if p.severity == ERROR] == []


@pytest.mark.parametrize("file", corpus_params())
def test_the_default_refuses_no_real_file(file):
    whole = load(file.data)
    assert [p for p in check(whole, "format") if p.severity == ERROR] == []
    assert dump(whole) == file.data


@pytest.mark.parametrize("game", GAMES)
def test_a_model_without_surfaces(game):
    assert check(load(SAMPLES["md3"]["tags_only"]), game) == []


def test_problems_read_as_sentences():
    assert str(limits.Problem(ERROR, "", "has 2000 frames")) == "the model has 2000 frames"
    assert str(limits.Problem(ERROR, "hull", "has 2000 vertices")) == "'hull' has 2000 vertices"
