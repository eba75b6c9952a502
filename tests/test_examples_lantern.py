"""The Lantern, an example of a pack: a model with a script, pictures and two skins, and what these come to."""

import io
import zipfile
from pathlib import PurePosixPath

import numpy as np
import pytest

from examples import lantern
from io_idtech_models.assets.load import load
from io_idtech_models.assets.surface_looks import Looks
from io_idtech_models.game.dress import Wardrobe
from io_idtech_models.game.folders import Disk
from io_idtech_models.game.search import SearchPath
from io_idtech_models.model.surface_look import ADD, ALPHA, OPAQUE, Look
from tests.samples import PROJECT
from tests.samples import load as load_bytes

PACK = PROJECT / "examples" / lantern.PACK
SHOWN = {  # by surfaces and skins: pictures, and how they are drawn
    ("iron", "default"): [("iron", OPAQUE), ("sheen", ADD)],
    ("glass", "default"): [("glass", ALPHA), ("sheen", ADD)],
    ("flame", "default"): [("flame", ADD), ("sparks", ADD)],
    ("cloth", "default"): [("cloth", OPAQUE)],
    ("candle", "default"): [("wax", OPAQUE)],
    ("iron", "frost"): [("rime", OPAQUE)],
    ("glass", "frost"): [("frosted", ALPHA)],
    ("flame", "frost"): [("coldflame", ADD)],
    ("cloth", "frost"): [("coldcloth", OPAQUE)],
    ("candle", "frost"): [("wax", OPAQUE)],
}


@pytest.fixture(scope="module")
def model_file():
    return Disk().file(PACK / lantern.FOLDER / "lantern.md3")


@pytest.fixture(scope="module")
def model(model_file):
    return load(model_file).model


@pytest.fixture(scope="module")
def pack():
    with zipfile.ZipFile(PACK) as archive:
        yield archive


@pytest.fixture
def looks(model_file):
    return Looks(SearchPath(model_file))


def test_the_pack_is_small_and_the_same_everywhere(pack):
    assert len(PACK.read_bytes()) < 250_000
    entries = pack.infolist()
    assert [entry.filename for entry in entries] == sorted(lantern.pack_files())
    assert {(e.compress_type, e.date_time, e.create_system, e.external_attr) for e in entries} == {
        (zipfile.ZIP_STORED, (1999, 12, 2, 0, 0, 0), 3, 0o644 << 16)
    }
    assert pack.testzip() is None
    turned = dict(reversed(lantern.pack_files().items()))
    assert lantern.pack(turned) == lantern.pack(lantern.pack_files()) == PACK.read_bytes()
    assert zipfile.ZipFile(io.BytesIO(lantern.pack({"a": b"b"}))).read("a") == b"b"


def test_the_lantern_is_whole(model, model_file):
    assert load_bytes(model_file.read(), "").name == lantern.FOLDER + "lantern.md3"
    assert [surface.name for surface in model.surfaces] == list(lantern.WORN)
    assert [tag.name for tag in model.tags] == ["tag_hook", "tag_flame"]
    assert len(model.frame_names) == lantern.NUM_FRAMES


def test_the_lantern_hangs_still_from_its_hook_and_swings_in_a_loop(model):
    hook, flame = model.tags
    assert np.abs(hook.origins).max() < 0.05
    for moving in (flame.origins, model.surfaces[-1].positions):
        steps = np.abs(np.diff(moving, axis=0, append=moving[:1])).reshape(lantern.NUM_FRAMES, -1).max(axis=1)
        assert steps.min() > 0
        assert steps[-1] <= steps.max() * 1.05, "no jump from the last frame to the first"


def test_its_script_has_no_faults_and_all_of_it_is_worn(looks):
    assert looks.library is not None
    names = looks.library.names()
    for name in names:
        shader = looks.library.shader(name)
        assert (shader.unknown, shader.faults) == ((), ())
    worn = {lantern.FOLDER + name for both in lantern.WORN.values() for name in both}
    assert set(names) <= worn


def test_all_of_its_pictures_are_shown(looks, pack):
    worn = {lantern.FOLDER + name for both in lantern.WORN.values() for name in both}
    shown = {texture.name for name in worn for texture in looks.find(name, worn=True).textures}
    assert shown == {name for name in pack.namelist() if name.endswith(".tga")}


@pytest.mark.parametrize("skin", lantern.SKINS)
def test_its_surfaces_wear_what_its_skins_say(model, model_file, looks, skin):
    assert Wardrobe(model_file).names() == list(lantern.SKINS)
    dress = Wardrobe(model_file).choose(skin)
    assert dress is not None
    for surface in model.surfaces:
        worn = dress.worn(surface.name, surface.shaders[0])
        found = looks.find(worn, worn=True)
        assert found.lacking == ()
        assert drawn(found) == SHOWN[surface.name, skin]
        if skin == "default":
            assert worn == surface.shaders[0], "the model wears it without a skin, too"


def drawn(found: Look) -> list[tuple[str, str]]:
    layers = ((layer.texture, layer.drawn) for layer in found.layers)
    return [(PurePosixPath(texture.name).stem, how) for texture, how in layers if texture is not None]


def test_what_its_script_says_that_pictures_can_not(looks):
    iron, glass, flame, cloth = (looks.find(lantern.FOLDER + name) for name in ("iron", "glass", "flame", "cloth"))
    assert [layer.texture.reflects for layer in iron.layers] == [False, True]
    assert [found.two_sided for found in (iron, glass, flame, cloth)] == [False, True, True, True]
    assert flame.layers[1].texture.motions[1][2].speed < 0, "what moves down its picture rises"
    assert not flame.layers[0].lit
    assert cloth.layers[0].clip is not None
