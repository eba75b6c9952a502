"""What the fuzzer found, each as a small file: see `docs/reliability.md`."""

import re
from dataclasses import replace

import numpy as np
import pytest

from io_idtech_models import formats
from io_idtech_models.formats import by_name
from io_idtech_models.formats.common import text as _text
from io_idtech_models.formats.md2 import model as md2_model
from io_idtech_models.formats.md3 import file as md3
from io_idtech_models.formats.md3 import model as md3_model
from io_idtech_models.formats.md5 import mesh_file as md5mesh
from io_idtech_models.formats.mdm import file as mdm
from io_idtech_models.formats.mdx import file as mdx
from io_idtech_models.model.bake import bake
from io_idtech_models.model.records import skeletal as skeletal_record
from io_idtech_models.reporting import FormatError, LimitError
from tests import samples_iqm, samples_md2, samples_md3, samples_md5, samples_mdl, samples_mdm, samples_mds
from tests.facts import differences
from tests.samples import dump, load, sample

ANIM = formats.by_name("md5anim")
MESH = formats.by_name("md5mesh")
MDX = formats.by_name("mdx")


def counted(monkeypatch, module):
    """Return a list that grows with each name that a module decodes."""
    decode, calls = module.decode_name, []

    def counting(raw):
        calls.append(raw)
        return decode(raw)

    monkeypatch.setattr(module, "decode_name", counting)
    return calls


TRIANGLE, SHADERS = samples_md3.minimal(), [(b"shader%d" % (i % 300), i) for i in range(400)]


@pytest.mark.parametrize(
    ("module", "spec"),
    [
        (md3_model, replace(TRIANGLE, surfaces=[replace(TRIANGLE.surfaces[0], shaders=SHADERS)])),
        (md2_model, replace(samples_md2.minimal(), skins=[b"skin%d" % (i % 300) for i in range(400)])),
    ],
    ids=["md3's shaders", "md2's skins"],
)
def test_the_time_for_names_grows_with_their_number(module, spec, monkeypatch):
    model = load(spec.pack())
    calls = counted(monkeypatch, module)
    assert dump(model) == spec.pack()
    assert len(calls) < 2000, "it was their square"


@pytest.mark.parametrize("size", [(8, 1 << 24), (1 << 24, 8), (1 << 15, 1 << 15)])
def test_mdl_a_skin_of_any_size_is_not_made_for_a_file_that_has_none(size):
    spec = replace(samples_mdl.minimal(), skins=[], size=size)
    assert formats.by_name("mdl").dump(load(spec.pack())) == spec.pack()
    model = replace(load(spec.pack()), source=None)
    with pytest.raises(LimitError, match="beyond all reason"):
        formats.by_name("mdl").dump(model)
    spec = replace(samples_mdl.minimal(), skins=[], size=(1 << 15, 4))  # the largest that there is
    assert load(formats.by_name("mdl").dump(replace(load(spec.pack()), source=None))).texture_size == spec.size


def test_md3_a_surface_that_lacks_frames_gets_none_of_what_lies_behind_it():
    """Where enough bytes follow, readers take these for the frames: then all frames are written."""
    file = md3.read(sample("short_surface"))
    file.layout["layout_tail"] = np.full(4096, 77, np.uint8)
    (short,) = (s for s in file.surfaces if len(s.vertices) == 1)
    again = md3.read(md3.write(file)).surfaces[file.surfaces.index(short)]
    assert (again.vertices == short.vertices).all()
    assert len(again.vertices) == len(file.frames)


@pytest.mark.parametrize("damage", ["tris", "refs", "collapse"])
def test_mdm_a_bad_index_in_a_surface_whose_name_has_braces(damage):
    spec = samples_mdm.figure_spec()
    spec.surfaces[0].name = b"{1} {x!z} {"
    getattr(spec.surfaces[0], damage)[0] = (-1, 0, 0) if damage == "tris" else -1
    with pytest.raises(FormatError, match=re.escape("0 of")) as caught:
        mdm.read(spec.pack())
    assert "'{1} {x!z} {'" in str(caught.value)


@pytest.mark.parametrize("number", [b"9" * 400, b"1e300", b"2147483648", b"-2147483649", b"inf"])
def test_md5_numbers_that_no_int_holds(number):
    for row, data, word in (
        (ANIM, samples_md5.wave(), b"frameRate"),
        (MESH, samples_md5.arm(), b"numJoints"),
        (ANIM, samples_md5.wave(), b"numFrames"),
    ):
        with pytest.raises(FormatError, match="expected a whole number"):
            row.load(re.sub(word + rb" \S+", word + b" " + number, data), "")


def test_md5_comments_without_an_end_cost_no_more_than_others():
    """For each the file was looked through to its end."""
    head = b'MD5Version 10 commandline "" numJoints 1 '
    with pytest.raises(FormatError, match="unexpected text"):
        md5mesh.read(head + b"/* " * 300_000)
    with pytest.raises(FormatError, match="the file ends too early"):
        md5mesh.read(head + b"/* */" * 100_000)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (b"a /* b */ c", b"a         c"),
        (b"a /*/ b", b"a /*/ b"),
        (b"a */ /* b", b"a */ /* b"),
        (b'"/*" a */', b'"/*" a */'),
        (b"/* \n\n */ a", b"   \n\n    a"),
        (b"a // b /*\nc */", b"a        \nc */"),
        (b"/**/a/* */", b"    a     "),
        (b'"a//b" // "c"', b'"a//b"       '),
    ],
)
def test_md5_what_is_a_comment(text, left):
    assert _text.Reader(text).text == left


# Between two singles; ties of the tenth decimal; small; large.
NUMBERS = [
    -0.44091866910457611, 0.16836977005004883, 0.00079785535, 0.00799511045, 2.0**-11, 1e-12, 123456.789,
    3.4028234e38, -0.0,
]  # fmt: skip


@pytest.mark.parametrize("value", NUMBERS)
def test_md5_a_number_that_was_written_is_written_the_same_again(value):
    """A double between two singles was cut to the one, and read as the other."""
    first = _text.format_rows("%s\n", np.array([[value]]))
    again = np.array([[float(first)]])
    assert np.float32(again[0, 0]) == np.float32(value)
    assert _text.format_rows("%s\n", again) == first


def test_md5_many_axes_are_written_the_same_again():
    written = MESH.dump(MESH.load(samples_md5.many_axes(), ""))
    assert MESH.dump(MESH.load(written, "")) == written


@pytest.mark.parametrize("place", [(1e15, 0.0, 0.0), (0.0, -1e38, 3.0)])
def test_mdx_bones_far_from_the_origin_keep_their_directions_and_lengths(place):
    """They were taken from the difference of two places, which is noise there."""
    spec = samples_mdm.MdxSpec()
    for frame in spec.frames:
        frame.parent_offset = place
    assert MDX.dump(MDX.load(spec.pack(), "")) == spec.pack()
    fresh = MDX.load(spec.pack(), "")
    fresh.source_frames = None
    kept = {path for path in differences(spec.pack(), MDX.dump(fresh)) if "bones[" in path}
    assert not kept, "lengths and signs"


@pytest.mark.parametrize("length", [-1e38, 3e38, -1e20])
def test_mdx_huge_lengths_keep_their_sign(length):
    spec = samples_mdm.MdxSpec()
    spec.bones[2] = samples_mdm.Bone(b"far", 1, 1.0, length)
    data = spec.pack()
    assert np.array_equal(mdx.read(MDX.dump(MDX.load(data, ""))).bones, mdx.read(data).bones)


def test_mdx_the_largest_length_is_within_single_precision_however_it_is_turned():
    """The turned way was beyond it by the last bit of a double, and no record took it."""
    largest = float(np.finfo(np.float32).max)
    spec = samples_mdm.MdxSpec()
    spec.bones = [samples_mdm.Bone(b"root", -1, 1.0, 1.0), samples_mdm.Bone(b"far", 0, 1.0, largest)]
    for frame in spec.frames:
        frame.codes = [(0, 0, 12288, 65, 0, 26624), (0, 0, 0, 0, 0, 0)]
    animation = MDX.load(spec.pack(), "")
    assert np.abs(animation.positions).max() <= largest
    source, _ = skeletal_record.animation_source(skeletal_record.animation_record(animation.source, {}))
    assert np.array_equal(source.positions, animation.positions)
    assert MDX.dump(animation) == spec.pack()


def test_mdx_an_animation_without_bones_is_refused():
    animation = MDX.load(samples_mdm.walk(), "walk")
    none = np.zeros(0, np.int32)
    bare = replace(
        animation, joint_names=[], parents=none, source=None, source_frames=None, source_joints=None, traits=None,
        positions=np.zeros((6, 0, 3)), rotations=np.zeros((6, 0, 4)), lengths=None,
    )  # fmt: skip
    with pytest.raises(LimitError, match="'walk' has no bones: MDX holds one or more"):
        MDX.dump(bare)


def test_md3_a_surface_that_lacks_frames_does_not_make_a_small_file_a_huge_model():
    """200 kB, whose vertices in all frames take 72 MB, and four times that as floats."""
    spec = samples_md3.minimal()
    spec.frames, spec.tags = [samples_md3.FrameSpec(b"frame")] * 3000, []
    corner = spec.surfaces[0].frames[0][0]
    spec.surfaces[0] = samples_md3.SurfaceSpec(b"flat", [[corner] * 3000], [], [(0.0, 0.0)] * 3000, num_frames=1)
    with pytest.raises(FormatError, match="surface 0 lacks frames at byte 168108: expected 3000, found 1"):
        md3.read(spec.pack())


@pytest.mark.parametrize("name", [" ", "\0", " arm ", "\t", "arm\0"])
def test_md5_a_meshs_name_that_the_comment_does_not_hold_is_written_the_same_again(name):
    model = MESH.load(samples_md5.arm(), "")
    model.meshes[0].name = name
    written = MESH.dump(model)
    assert MESH.dump(MESH.load(written, "")) == written


def test_md5_joints_that_stand_still_do_not_make_a_small_file_a_huge_animation():
    """2,000 frames of 250 joints are 29 kB, and took 170 MB."""
    joints, frames = 500, 1000
    text = f"MD5Version 10 numFrames {frames} numJoints {joints} frameRate 24 numAnimatedComponents 0 hierarchy {{"
    text += '"a" -1 0 0\n' * joints + "} bounds{} baseframe{" + "0 0 0 0 0 0\n" * joints + "}"
    text += "".join(f"frame {i}{{}}" for i in range(frames))
    with pytest.raises(FormatError, match=r"too many poses .* at most, found 1000 frames of 500 joints"):
        ANIM.load(text.encode(), "")


def test_md5_shared_weights_do_not_make_a_small_file_a_huge_model():
    count = 1000
    text = 'MD5Version 10 numJoints 1 numMeshes 1 joints { "a" -1 ( 0 0 0 ) ( 0 0 0 ) } mesh { shader ""\n'
    text += f"numverts {count}\n" + "".join(f"vert {i} ( 0 0 ) 0 {count}\n" for i in range(count)) + "numtris 0\n"
    text += f"numweights {count}\n" + "".join(f"weight {i} 0 1 ( 0 0 0 )\n" for i in range(count)) + "}"
    with pytest.raises(FormatError, match=r"vertices share weights without end .* found 1000000"):
        MESH.load(text.encode(), "")


def test_mdm_bones_beyond_all_numbers_are_shown_at_the_largest():
    """Two ways of 3e38 came to a place that no single precision holds, and no record took."""
    spec = samples_mdm.MdxSpec()
    spec.bones[1], spec.bones[2] = samples_mdm.Bone(b"far", 0, 1.0, 3e38), samples_mdm.Bone(b"on", 1, 1.0, 3e38)
    for frame in spec.frames:
        frame.codes[1] = frame.codes[2] = (0, 0, 0, 0, 0, 0)
    model = formats.by_name("mdm").load(samples_mdm.figure(), "", {"mdx": spec.pack()})
    assert np.isfinite(model.skeleton.positions.astype(np.float32)).all()
    assert model.skeleton.positions.max() == np.finfo(np.float32).max


@pytest.mark.filterwarnings("error")
def test_extreme_numbers_bring_no_warnings_of_numpy():
    model = load(sample("animated", "md2"))
    model.surfaces[0].positions[0, 0, 0] = 3e38
    with pytest.raises(LimitError, match="X = 3e\\+38 in frame 0: MD3 holds"):
        formats.by_name("md3").dump(model)
    spec = samples_mdm.MdxSpec()
    spec.frames[0].bounds = (-3e38, -3e38, -3e38, 3e38, 3e38, 3e38)
    animation = MDX.load(spec.pack(), "")
    animation.source = None
    assert np.isfinite(mdx.read(MDX.dump(animation)).frames["info"]["radius"]).all()
    with pytest.raises(FormatError, match="channels of joint"):
        ANIM.load(samples_md5.wave().replace(b'"hand"\t1 33', b'"hand"\t1 3e38'), "")
    skinned = MESH.load(samples_md5.arm(), "")
    skinned.meshes[0].weights.factors[:] = 3e38
    with pytest.raises(LimitError, match="MD3 holds -512"):
        formats.by_name("md3").dump(bake(skinned, []))


def test_md5_numbers_beyond_single_precision_are_written_as_the_largest():
    """A way of 3.4e38, turned, was a little longer, and became the word "inf" that nobody reads."""
    largest = float(np.finfo(np.float32).max)
    assert float(_text.format_rows("%s\n", np.array([[largest * 1.0001]]))) == largest


@pytest.mark.filterwarnings("error")
def test_mdx_bounds_of_signalling_nans_bring_no_warning():
    data = bytearray(samples_mdm.walk())
    place = int(mdx.read(bytes(data)).header["ofs_frames"])
    data[place : place + 4] = (0x7F800001).to_bytes(4, "little")
    assert np.isfinite(MDX.load(bytes(data), "").bounds).all()
    assert MDX.dump(MDX.load(bytes(data), "")) == data


@pytest.mark.parametrize("name", ["mdm", "mds", "iqm"])
def test_single_numbers_that_are_none_are_read_and_come_back(name):
    """A scale or bias of levels of detail, and a rate: numpy 2 changes no single number in place."""
    nan, inf = float("nan"), float("inf")
    if name == "iqm":
        spec = samples_iqm.animated()
        spec.anims = [(called, first, count, nan, flags) for called, first, count, _, flags in spec.anims]
        data = spec.pack()
    else:
        data = replace({"mdm": samples_mdm, "mds": samples_mds}[name].figure_spec(), lod=(nan, -inf)).pack()
    row = formats.by_name(name)
    found = row.unpack(row.read(data), "")
    if name != "iqm":
        assert found.model.lod == (0.0, np.finfo(np.float32).min)
    assert row.dump(found.model, {}, found.animations) == data


@pytest.mark.parametrize(("make", "warned"), [(samples_mds.figure, False), (samples_mds.tag_that_moves, True)])
def test_tags_whose_bones_move_vertices_are_named(make, warned, caplog):
    row = by_name("mds")
    asset = row.unpack(row.read(make()), "x")
    row.dump(asset.model, None, asset.animations)
    assert ("games turn these tags the other way: 'tag_hand'" in caplog.text) is warned
