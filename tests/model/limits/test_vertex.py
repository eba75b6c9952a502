"""What games take, at each limit and one beyond it, and that the default refuses nothing that real files have."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from io_idtech_models import formats
from io_idtech_models.model.limits import games as limits
from io_idtech_models.model.limits.checks import check_vertex, engine_surface_name
from io_idtech_models.model.limits.games import ERROR, GAMES, WARNING
from io_idtech_models.model.vertex import Surface, Tag, VertexModel
from tests import samples_md3
from tests.samples import CORPUS, corpus_params, dump, load
from tests.small_files import SAMPLES

KINDS = ("vertices", "triangles", "frames", "tags", "surfaces", "shaders", "skin_height")
# What games say of formats; whether they say what they did is asked by `tests/formats/test_said.py`.
LIMITS: dict[tuple[str, str], Any] = {
    (game, row.name): GAMES[game].formats[row.name]
    for row in formats.rows_of(formats.VERTEX)
    for game in GAMES
    if row.name in GAMES[game].formats
}
ROWS = [
    pytest.param(game, name, kind, limit, id=f"{game}-{name}-{kind}")
    for (game, name), own in LIMITS.items()
    for kind in KINDS
    if (limit := getattr(own, kind)) is not None
]
MD3 = [game for game, name in LIMITS if name == "md3"]
every_md3_game = pytest.mark.parametrize("game", MD3)
every_stripping_game = pytest.mark.parametrize("game", [game for game in MD3 if LIMITS[game, "md3"].strips_names])
every_pair = pytest.mark.parametrize(("game", "name"), LIMITS)


def surface(name="body", frames=1, vertices=3, triangles=1, shaders=1) -> Surface:
    positions = np.zeros((frames, vertices, 3), np.float32)
    names = [f"models/x/{i}" for i in range(shaders)]
    triangles, uvs = np.zeros((triangles, 3), np.int32), np.zeros((vertices, 2), np.float32)
    return Surface(name, positions, triangles, uvs, names, stored_normals=np.ones_like(positions))


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
    if kind == "skin_height":
        whole = model()
        whole.texture_size = (1024, count)
        return whole
    return model([surface("torso", **{kind: count})])


@pytest.mark.parametrize(("game", "name", "kind", "limit"), ROWS)
def test_at_the_limit_and_one_beyond(game, name, kind, limit):
    assert check_vertex(with_count(kind, limit), game, name) == []
    (problem,) = check_vertex(with_count(kind, limit + 1), game, name)
    own = LIMITS[game, name]
    assert problem.severity == (WARNING if kind in own.soft else ERROR)
    text = str(problem)
    assert {str(limit), str(limit + 1)} <= set(text.split())
    assert {"shaders": own.shader_word, "skin_height": "skin"}.get(kind, kind) in text
    assert GAMES[game].label in text
    of_model = kind in {"frames", "tags", "surfaces", "skin_height"}
    assert text.startswith("the model has" if of_model else "'torso' has")


def test_a_map_object_is_split_by_the_compiler():
    """What the game's loader refuses of other models."""
    for kind, count in (("vertices", 1599), ("triangles", 9000)):
        assert check_vertex(with_count(kind, count), "quake3map", "md3") == []
        assert [p.severity for p in check_vertex(with_count(kind, count), "quake3", "md3")] == [ERROR]


@every_pair
def test_a_model_without_triangles(game, name):
    texts = [str(p) for p in check_vertex(with_count("triangles", 0), game, name) if p.severity == ERROR]
    wanted = f"'torso' has no triangles, which {GAMES[game].label} refuses"
    assert texts == [wanted] * LIMITS[game, name].needs_triangles


@pytest.mark.parametrize(("game", "name"), [("quake2", "md3"), ("etlegacy", "md2"), ("q2pro", "md3")])
def test_a_format_that_the_game_does_not_read(game, name):
    (problem,) = check_vertex(model(), game, name)
    assert problem.severity == ERROR
    assert str(problem) == f"the model is {name.upper()}, which {GAMES[game].label} does not read"


@every_md3_game
class TestReach:
    """Coordinates are sixteen bits of a sixty-fourth."""

    @pytest.mark.parametrize("value", [-512.0, -512.0 - 1 / 128, 511.984375, 511.99, 0.0])
    def test_what_rounds_to_a_code_is_taken(self, game, value):
        whole = model()
        whole.surfaces[0].positions[0, 1, 2] = value
        assert check_vertex(whole, game, "md3") == []
        dump(whole)

    @pytest.mark.parametrize("value", [-512.01, 512.0 - 1 / 128, 512.0, 600.0, -1e30, float("nan"), float("inf")])
    def test_anything_else_is_refused_with_its_frame(self, game, value):
        whole = model([surface(), surface("torso", frames=3)], frames=3)
        whole.surfaces[1].positions[2, 1, 0] = value
        (problem,) = (found for found in check_vertex(whole, game, "md3") if found.severity == ERROR)
        assert "'torso' reaches" in str(problem)
        assert "nan" not in str(problem)
        assert "frame 2" in str(problem)
        assert "512" in str(problem)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@every_pair
def test_what_is_no_number_is_refused(game, name, value):
    whole = model([surface(), surface("torso")], [tag("tag_a")])
    whole.surfaces[1].uvs[2, 1] = value
    whole.tags[0].origins[0, 1] = value
    texts = [str(p) for p in check_vertex(whole, game, name) if p.severity == ERROR]
    assert texts == [
        "'torso' has texture coordinates that are no numbers, or beyond all",
        "'tag_a' has places that are no numbers, or beyond all",
    ]


@every_md3_game
class TestNames:
    """A field of 64 bytes holds 63 and a NUL."""

    @pytest.mark.parametrize("name", ["x" * 63, "ü" * 31 + "x", "日" * 21])
    def test_63_bytes_fit(self, game, name):
        whole = model([surface(name)], [tag(name)])
        whole.surfaces[0].shaders = [name]
        assert [p for p in check_vertex(whole, game, "md3") if p.severity == ERROR] == []
        dump(whole)

    @pytest.mark.parametrize("name", ["x" * 64, "ü" * 32, "日" * 21 + "x"])
    @pytest.mark.parametrize("kind", ["surface", "tag", "shader"])
    def test_64_bytes_do_not(self, game, name, kind):
        whole = model([surface(name if kind == "surface" else "torso")], [tag(name if kind == "tag" else "tag_x")])
        whole.surfaces[0].shaders = [name if kind == "shader" else "skin"]
        (problem,) = check_vertex(whole, game, "md3")
        assert problem.severity == ERROR
        text = str(problem)
        assert name in text
        assert kind in text
        assert "of 64 bytes" in text
        assert "63" in text
        assert ("'torso'" in text) == (kind == "shader")

    @pytest.mark.parametrize("name", [b"y" * 64, b"\xfc" * 63], ids=["without a NUL", "Latin-1"])
    def test_a_name_of_the_source_has_room(self, game, name):
        spec = samples_md3.minimal()
        spec.surfaces[0].name = spec.tags[0][0].name = name
        spec.surfaces[0].shaders = [(name, 0)]
        whole = load(spec.pack())
        assert len(whole.surfaces[0].name.encode()) > 63
        assert [p for p in check_vertex(whole, game, "md3") if p.severity == ERROR] == []
        assert dump(whole) == spec.pack()


@pytest.mark.parametrize("game", [game for game, name in LIMITS if name == "md2"])
def test_a_longer_name_of_a_skin(game):
    """A path of 64 bytes holds 63 and a NUL; the mesh has no name in the file."""
    whole = model([surface("torso")])
    whole.surfaces[0].shaders = ["x" * 63, "y" * 64]
    (problem,) = check_vertex(whole, game, "md2")
    assert problem.severity == ERROR
    assert f"'torso' has the skin '{'y' * 64}', a name of 64 bytes" in str(problem)
    assert str(problem).endswith(f"{GAMES[game].label} takes 63: rename it")


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


@every_stripping_game
def test_names_that_collide_are_warned_about(game):
    problems = check_vertex(model([surface("Arm_L"), surface("head"), surface("arm_R")]), game, "md3")
    assert {p.severity for p in problems} == {WARNING}
    texts = "; ".join(map(str, problems))
    assert "'arm_R' and 'Arm_L' have one name" in texts
    assert "'Arm_L' is called 'arm'" in texts
    assert "'head'" not in texts


@every_stripping_game
def test_lower_case_alone_changes_nothing(game):
    assert check_vertex(model([surface("Head"), surface("Torso")]), game, "md3") == []
    (problem,) = check_vertex(model([surface("Head"), surface("HEAD")]), game, "md3")
    assert problem.severity == WARNING


# -- the default stands in nobody's way


@pytest.mark.parametrize("file", corpus_params())
def test_the_default_refuses_no_real_file(file):
    whole = load(file.data)
    assert [p for p in check_vertex(whole, "format", whole.source.format) if p.severity == ERROR] == []
    assert dump(whole) == file.data


@every_pair
def test_a_model_without_surfaces(game, name):
    said = [str(problem) for problem in check_vertex(load(SAMPLES["md3"]["tags_only"]), game, name)]
    assert said == ["the model has 3 frames, Quake III map object is made for 1"] * (
        (game, name) == ("quake3map", "md3")
    )


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("3D-First-Person-Shooter-Game/m16.MD2", "has a skin 512 texels high, Quake II takes 480"),
        ("AC/packages/models/mapmodels/makke/nothing_clip/tris.md2", "has no triangles, which Quake II refuses"),
        ("TrenchBroom/lib/TbMdlLib/test/fixture/mdl/LoadMd2Model/cube.md2", "has no triangles, which Quake II refuses"),
        ("AC/packages/models/playermodels/tris.md2", ""),
    ],
)
def test_what_quake2_refused_of_real_files_is_refused(path, words):
    if not (CORPUS / path).is_file():
        pytest.skip("the corpus of real files is not here")
    texts = [str(p) for p in check_vertex(load((CORPUS / path).read_bytes()), "quake2", "md2") if p.severity == ERROR]
    assert [words in text for text in texts] == ([True] if words else [])


def test_problems_read_as_sentences():
    assert str(limits.Problem(ERROR, "", "has 2000 frames")) == "the model has 2000 frames"
    assert str(limits.Problem(ERROR, "hull", "has 2000 vertices")) == "'hull' has 2000 vertices"


def test_names_that_a_text_can_not_hold_are_said():
    own = replace(surface('a"b'), shaders=["models/x\ny"])
    said = [(p.severity, str(p)) for p in formats.by_name("ase").check(model([own]), "format") if "quote" in str(p)]
    lost = "with a quote, line end or NUL, which no text holds: written without"
    assert said == [
        (WARNING, f"'a\"b' is a surface's name {lost}"),
        (WARNING, f"'models/x\ny' is a shader's name {lost}"),
    ]
    assert not [p for p in formats.by_name("lwo").check(model([own]), "format") if "quote" in str(p)]
