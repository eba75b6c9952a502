"""From format to format to format: what the last file shows by its engine's formula is what the first one shows."""

import numpy as np
import pytest

from io_idtech_models.assets.convert import Posing, convert
from io_idtech_models.assets.export_request import ExportRequest
from io_idtech_models.assets.load import load
from io_idtech_models.formats import by_name
from io_idtech_models.game.folders import Disk
from io_idtech_models.model.bake import bake
from io_idtech_models.reporting import collected_warnings
from tests.samples import PROJECT, sample

# Of the positions that formats store, half a step: MD3's and MDC's base frames', and what steps of MDC are off at most.
HALF_MD3, MDC_STEP = 1 / 128, 0.025
NEWT = PROJECT / "examples/newt/models/md5/newt"


def apart(a, b):
    """Return how far the point of two clouds (n, 3) and (m, 3) that is farthest from the other cloud lies from it."""
    off = np.linalg.norm(a[:, None] - b[None], axis=2)
    return max(off.min(axis=0).max(), off.min(axis=1).max())


def chain(folder, source, *targets, motions=()):
    """Convert a file from target to target; the motions pose it in the first step that bakes them."""
    for target in targets:
        to = by_name(target.rpartition(".")[2])
        posed = by_name(source.suffix[1:]).skeletal.animation
        named = [f"{name}.{posed.name}" for name in motions] if posed and not to.has_motions else []
        files = [Disk().file(folder / name) for name in named]
        with collected_warnings():
            convert(Disk().file(source), ExportRequest(folder / target, shorten=True), Posing(files if to.tags else []))
        source = folder / target
    return source


def shown_by_mdc(path):
    """Return the positions of all vertices in each frame, (F, n, 3): `LerpCMeshVertexes`."""
    file, found = by_name("mdc").read(path.read_bytes()), []
    for surface in file.surfaces:
        frames = []
        for base, step in zip(surface.base_frames, surface.comp_frames, strict=True):
            places = surface.bases[base][:, :3] / 64.0
            frames.append(places if step < 0 else places + (surface.steps[step][:, :3] - 127.0) * 0.05)
        found.append(np.array(frames))
    return np.concatenate(found, axis=1)


def shown_by_md2(path):
    """Return the positions of all vertices in each frame, (F, n, 3): bytes in each frame's box, and its steps."""
    file = by_name("md2").read(path.read_bytes())
    scale, origin = file.frames["scale"][:, None], file.frames["translate"][:, None]
    return file.vertices[..., :3] * scale + origin, scale.max(axis=(1, 2))


def frames_of(path, *names):
    """Return where the vertices of all surfaces are in each frame of some motions, (F, n, 3)."""
    found = load(Disk().file(path))
    motions = [motion for motion in found.animations if motion.name in names]
    return np.concatenate([s.positions for s in bake(found.model, motions).surfaces], axis=1)


def test_iqm_to_md5_to_md3_to_mdc(tmp_path):
    source = tmp_path / "a.iqm"
    source.write_bytes(sample("arm", "iqm"))
    wanted = frames_of(source, "wave")
    last = chain(tmp_path, source, "b.md5mesh", "c.md3", "d.mdc", motions=["wave"])
    found = shown_by_mdc(last)
    assert len(found) == len(wanted) == 3
    assert np.abs(wanted[1] - wanted[0]).max() > 0.2, "it moves"
    most = np.sqrt(3) * (HALF_MD3 + MDC_STEP) + 1e-3
    assert apart(found[0], wanted[0]) < most
    # From then on the hand is scaled, which MD5 has no place for, as the conversion says: the first surface is not.
    for one, other in zip(found[:, :8], wanted[:, :8], strict=True):
        assert apart(one, other) < most


def test_mds_to_md3_to_mdl_to_md2(tmp_path):
    source = tmp_path / "a.mds"
    source.write_bytes(sample("figure", "mds"))
    with collected_warnings():
        found = load(Disk().file(source))
        wanted = np.concatenate([s.positions for s in bake(found.model, found.animations).surfaces], axis=1)
    last = chain(tmp_path, source, "b.md3", "c.mdl", "d.md2")
    grid = by_name("mdl").read((tmp_path / "c.mdl").read_bytes()).header["scale"].max()
    places, steps = shown_by_md2(last)
    assert len(places) == len(wanted) == 6
    for one, other, step in zip(places, wanted, steps, strict=True):
        assert apart(one, other) < np.sqrt(3) * (HALF_MD3 + grid / 2 + step / 2) + 1e-3


@pytest.mark.parametrize("middle", ["iqm", "mdr", "mds", "mdm"])
def test_a_skeleton_through_another_format_and_back(tmp_path, middle):
    """The newt moves as it did: the first frame and one in the middle, in every vertex."""
    model = by_name("md5mesh").load((NEWT / "newt.md5mesh").read_bytes(), "newt")
    walk = by_name("md5anim").load((NEWT / "walk.md5anim").read_bytes(), "walk")
    wanted = bake(model, [walk]).surfaces[0].positions
    with collected_warnings():
        posing = Posing([Disk().file(NEWT / "walk.md5anim")])
        convert(Disk().file(NEWT / "newt.md5mesh"), ExportRequest(tmp_path / f"a.{middle}", shorten=True), posing)
        bones = [Disk().file(tmp_path / f"a.{other.name}") for other in by_name(middle).skeletal.companions]
        back = ExportRequest(tmp_path / "b.md3", shorten=True)
        convert(Disk().file(tmp_path / f"a.{middle}"), back, Posing(bones))
    found = by_name("md3").load((tmp_path / "b.md3").read_bytes(), "b").surfaces[0].positions
    assert len(found) == len(wanted)
    # IQM's weights are 255ths. Of MDS and MDM one bone's way to its parent has one length, which the walk changes by
    # 0.19 units in the hips: as the conversion says.
    most = {"iqm": 0.05, "mdr": 0.02, "mds": 0.24, "mdm": 0.24}[middle]
    for frame in (0, len(wanted) // 2):
        assert apart(found[frame], wanted[frame]) < most
