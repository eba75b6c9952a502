"""Tock, an example of a whole player: what it holds is what games ask for, and what its table says it shows."""

from types import SimpleNamespace

import numpy as np
import pytest

from examples import tock, tock_moves
from io_idtech_models.assets.load import load
from io_idtech_models.assets.surface_looks import Looks
from io_idtech_models.game.dress import Wardrobe
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.player.animation_cfg import NAMES, read
from io_idtech_models.game.player.files import players_in
from io_idtech_models.game.search import SearchPath
from tests.samples import PROJECT

GAME = PROJECT / "examples" / tock.GAME
FOLDER = GAME / tock.FOLDER


@pytest.fixture(scope="module")
def player():
    (files,) = players_in(Disk().folder(GAME))
    assert files.table is not None
    models = {name: load(part.base).model for name, part in files.parts.items()}
    return SimpleNamespace(files=files, models=models, table=read(files.table.read()))


def test_the_player_is_small_and_whole(player):
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 300_000
    assert (player.files.missing, player.files.without_icon, player.table.lacking()) == ([], [], "")
    assert (player.files.name, player.files.path) == ("tock", tock.FOLDER.rstrip("/"))
    assert player.files.skins == list(tock.SKINS)
    assert [path.name for path in sorted(FOLDER.iterdir())] == sorted(tock.player_files())


def test_its_levels_of_detail_have_its_frames_and_tags(player):
    for name, part in player.files.parts.items():
        whole = player.models[name]
        assert list(part.levels) == [1]
        for file in part.levels.values():
            model = load(file).model
            assert model.frame_names == whole.frame_names
            assert [tag.name for tag in model.tags] == [tag.name for tag in whole.tags]
            assert model.surfaces[0].positions.shape[1] < 0.7 * whole.surfaces[0].positions.shape[1]


def test_its_table_names_all_of_its_frames(player):
    table = player.table
    assert [row.name for row in table.rows] == list(NAMES)
    for part in ("lower", "upper"):
        model = player.models[part]
        shown = {frame for row in table.of_part(part) for frame in row.frames}
        assert shown == set(range(len(model.frame_names)))
        assert len(set(model.frame_names)) == len(model.frame_names)
    names = player.models["lower"].frame_names
    by_row = {row.name: [names[frame] for frame in row.frames] for row in table.of_part("lower")}
    assert by_row["LEGS_RUN"] == [f"run_{nth}" for nth in range(8)]
    assert by_row["LEGS_BACK"] == [f"walk_{nth}" for nth in reversed(range(8))]
    assert by_row["BOTH_DEAD2"] == ["death2_4"]
    torso = player.models["upper"].frame_names
    by_row = {row.name: [torso[frame] for frame in row.frames] for row in table.of_part("upper")}
    assert by_row["TORSO_STAND"] == ["stand_0"]
    hands = [len(by_row[name]) for name in ("TORSO_ATTACK", "TORSO_ATTACK2", "TORSO_DROP", "TORSO_RAISE")]
    assert hands == [6, 6, 5, 4], "so many has the model of the hands, which moves along"


def heights(model, frames):
    return model.surfaces[0].positions[list(frames), :, 2].min(axis=1)


def test_it_walks_on_the_ground_in_a_loop(player):
    lower = player.models["lower"]
    rows = {row.name: row for row in player.table.of_part("lower")}
    for name in ("LEGS_WALK", "LEGS_RUN", "LEGS_IDLE", "LEGS_LAND", "LEGS_WALKCR"):
        np.testing.assert_allclose(heights(lower, rows[name].frames), -24, atol=0.02)
    for name in ("LEGS_WALK", "LEGS_RUN"):
        frames = lower.surfaces[0].positions[rows[name].frames]
        steps = np.abs(np.diff(frames, axis=0, append=frames[:1])).max(axis=(1, 2))
        assert steps.min() > 1
        assert steps[-1] <= 1.05 * steps.max(), "no jump from the last frame to the first"
    assert heights(lower, rows["LEGS_JUMP"].frames)[-1] > -22, "its feet are drawn in"
    for nth in (1, 2):
        (dead,) = rows[f"BOTH_DEAD{nth}"].frames
        assert lower.surfaces[0].positions[dead, :, 2].max() < -5, "it lies"


def test_weapons_point_ahead_where_it_aims(player):
    upper = player.models["upper"]
    (stand,) = next(row for row in player.table.of_part("upper") if row.name == "TORSO_STAND").frames
    tags = {tag.name: tag for tag in upper.tags}
    assert list(tags) == ["tag_torso", "tag_head", "tag_weapon", "tag_flag"]
    assert np.array_equal(tags["tag_weapon"].axes[stand], np.eye(3))
    for tag in (*upper.tags, *player.models["lower"].tags):
        lengths = np.sqrt((tag.axes.astype(np.float64) ** 2).sum(axis=2))
        np.testing.assert_allclose(lengths, 1, atol=1e-4)
    assert np.abs(tags["tag_torso"].origins).max() == 0


def test_poses_are_those_of_all_frames():
    for part in (0, 1):
        assert len(tock_moves.poses(part)) == len(tock_moves.names(part))
        assert all(len(name) < 16 for name in tock_moves.names(part))


@pytest.mark.parametrize("skin", tock.SKINS)
def test_its_surfaces_wear_what_its_skins_say(player, skin):
    for name, part in player.files.parts.items():
        dress = Wardrobe(part.base).choose(skin)
        assert dress is not None
        worn = {dress.worn(surface.name, "") for surface in player.models[name].surfaces}
        wanted = f"{tock.FOLDER}{skin}.tga"
        assert worn == {wanted}
        found = Looks(SearchPath(part.base)).find(wanted, worn=True)
        assert found is not None
        assert found.lacking == ()
        assert [texture.name for texture in found.textures] == [wanted]
