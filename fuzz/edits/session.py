"""One sequence of edits on one model, in Blender: import, edit, export, and what is wrong with what came of it."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import bpy as blender

from fuzz.edits import bounds, characters, held, judge, looks, players
from fuzz.edits.operations import FIRST, Operation, do, operations, save_and_open
from fuzz.edits.panel import BrokenError
from io_idtech_models import formats
from io_idtech_models.blender import rig_settling
from io_idtech_models.formats import VERTEX, Format
from tests.samples import sample
from tests.small_files import SAMPLES
from tests.ui.panel.drawing import draw_all
from tests.ui.scene import activate, operator
from tests.ui.untouched import changed, state

bpy: Any = blender
PROJECT = Path(__file__).resolve().parents[2]
CORPUS = PROJECT.parent / "shared" / "corpus"
WHOLE: Any = {players.NAME: players, characters.NAME: characters}  # more than one file
FRAME_NAME = re.compile(rb"frame\d+")  # of one that shows no key
FEW, NEAR = 0.05, 1e-3  # of a file's bytes or words; of a number
DRAWN = 2  # objects that are active while all is drawn
OFTEN = 3  # of how many sequences one is exported in other ways, too
LARGEST = 120_000  # bytes of a real file that is edited
# Models that can move, and what lies beside: the samples' names.
BESIDE = {"mdm": "mdx", "md5mesh": "md5anim"}
# How a model is imported, by names: options of the operator.
WAYS: dict[str, dict[str, Any]] = {
    "": {},
    "apart": {"weld": False},
    "relative": {"relative_keys": True},
    "in a frame": {"bind": "FRAME", "bind_frame": 1},
    "plain": {"plain_materials": True},
}
EXPORTS: dict[str, dict[str, Any]] = {
    "": {},
    "normals as shown": {"normals": "SHOWN"},
    "the scene's frames": {"frames": "SCENE"},
    "the scene's motion": {"motions": "SCENE"},
    "in the world": {"space": "WORLD"},
    "split": {"split_surfaces": True},
    "in triangles": {"triangulate": True},
    "in one box": {"same_box": True},
    "packed": {"pack_frames": True},
    "of the active model": {"what": "AUTO"},
}
# Sentences that say nothing of where a model is.
OTHER = re.compile(
    r"corners? whose faces changed|levels of detail|UV map|texture|without a material|more than a file holds|"
    r"is no path of a game|is a copy|is made of parts|part of its model|normals|sharp edges|bounds are made anew|"
    r"taken along|surfaces become one|called as tags|tags? left out|has no tags|torso weights|no names and no parents|"
    r"loose vert|icons?\b|is called|set without a key"
)
NAMED = re.compile(r"'[^']*'")
# And of texture coordinates these do.
ABOUT_UVS = re.compile(r"has no UV map|left out: UV map|does not tile|kept, but not shown|LWOB|vertices of seams")

ABOUT = {
    "uvs": ABOUT_UVS,
    "shaders": re.compile(r"shader|material|skin"),
    "normals": re.compile(r"normals|sharp|smooth"),
    "hung": re.compile(r"tag|joint|bone"),
    "colors": re.compile(r"colour"),
}


@dataclass(frozen=True)
class Subject:
    """A model to begin with: a sample of a format, by name, or a real file, by its path in the corpus.

    It is imported in a way that `WAYS` has, and exported in one of `EXPORTS`.
    """

    format: str
    name: str
    way: str = ""
    export: str = ""

    @property
    def row(self) -> Format:
        """Return its format."""
        return formats.by_name(self.format)

    def place(self, folder: Path) -> Path:
        """Return its file, written into a folder if it is a sample, with what lies beside."""
        if "/" in self.name:
            return CORPUS / self.name
        path = folder / f"model{self.row.suffixes[0]}"
        path.write_bytes(sample(self.name, self.format))
        other = BESIDE.get(self.format, "")
        for name, data in SAMPLES[other].items() if other else ():
            if other == "md5anim" or name == self.name:  # bones have a model's name
                (folder / f"model{'' if other == 'mdx' else name}{formats.by_name(other).suffixes[0]}").write_bytes(
                    data
                )
        return path

    def bring(self, folder: Path) -> None:
        """Import it; raises RuntimeError if it can't be read."""
        if self.format in WHOLE:
            WHOLE[self.format].bring(self.name, folder)
        else:
            operator("import", self.place(folder))(filepath=str(self.place(folder)), **WAYS[self.way])

    def otherwise(self, rng: Random) -> Subject:
        """Return it as it is imported and exported in other ways, which its format has."""
        if self.format in WHOLE:
            return self
        path, found = Path(f"x{self.row.suffixes[0]}"), []
        for way, every in (("import", WAYS), ("export", EXPORTS)):
            known = operator(way, path).get_rna_type().properties
            found.append(
                rng.choice([name for name, options in every.items() if all(each in known for each in options)])
            )
        return replace(self, way=found[0], export=found[1])


Step = tuple[str, int]  # an operation's name, and the seed of its random numbers


@dataclass(frozen=True)
class Finding:
    """What is wrong: of which kind, and in words."""

    kind: str  # "" if nothing is
    text: str = ""
    said: str = ""


@cache
def all_operations() -> dict[str, Operation]:
    """Return the operations, by name."""
    return operations()


def run(subject: Subject, steps: list[Step]) -> Finding:
    """Import a model, edit it, export it, and return what is wrong."""
    known = all_operations()  # which looks at a scene of its own when it is asked first
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                subject.bring(folder)
        except RuntimeError:
            return Finding("")
        for block in bpy.context.scene.objects:
            looks.note_base(block)
            block[FIRST] = True
        bpy.context.scene.frame_end = min(bpy.context.scene.frame_end, bpy.context.scene.frame_start + 12)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                for called, seed in steps:
                    do(known[called], seed)
        except BrokenError as error:
            return Finding("traceback", str(error).strip().splitlines()[-1])
        odd = _drawn(Random(len(steps)))
        if odd.kind:
            return odd
        if subject.format in WHOLE:
            found = _whole_outcome(subject, folder, len(steps))
        else:
            (folder / "out").mkdir()
            found = _outcome(subject, folder)
            if found.kind == "normals" and looks.has_flat_faces(subject.row, subject.place(folder)):
                found = Finding("")  # any edit of their mesh lets Blender show others around
        lost = any(called == "append" for called, _ in steps)  # what Blender keeps of others' data till it is saved
        due = not found.kind and not lost and sum(seed for _, seed in steps) % OFTEN == 0
        found = _otherwise(subject, folder) if due else found
        if not found.kind and subject.format not in WHOLE:
            found = _imported_again(subject, folder / "out", folder / "again")
        return found


def _drawn(rng: Random) -> Finding:
    """Draw all panels and menus while some objects are active, in whatever mode they are."""
    objects = bpy.context.view_layer.objects
    before, active, known = state(), objects.active, list(objects)
    try:
        for block in [active, *rng.sample(known, min(DRAWN, len(known)))]:
            objects.active = block
            draw_all(rng.choice((150, 400)))
    except Exception:  # noqa: BLE001 - whatever it is, the user sees a traceback in place of the panel
        return Finding("drawing", " ".join(traceback.format_exc().splitlines()[-3:]))
    objects.active = active
    touched = changed(before, state())
    return Finding("drawing", f"changes the scene: {touched[0][:300]}") if touched else Finding("")


def _outcome(subject: Subject, folder: Path) -> Finding:
    """Export what is in the scene, and compare."""
    row = subject.row
    target = folder / "out" / f"a{row.suffixes[0]}"
    visible = [block for block in bpy.context.scene.objects if block.visible_get()]
    graph = bpy.context.evaluated_depsgraph_get()  # modifiers make faces of edges, too
    # In edit mode there is nothing to look at before the export.
    blocks = [b for b in visible if b.type == "MESH" and (b.data.is_editmode or b.evaluated_get(graph).data.polygons)]
    if not blocks:
        return Finding("")
    activate(*_led(visible))
    said = io.StringIO()
    others: dict[str, Path] = {}

    def export() -> None:
        others.update(_export(subject, target))

    failure = _failure(export, said)
    if failure is not None:
        return failure
    if not target.is_file():
        return Finding("nothing", "neither a file nor a sentence", said.getvalue())
    leave_edit_mode(blocks)
    try:
        frames = held.loaded(row, target, others)
        with judge.no_roots() if subject.export == "in the world" else contextlib.nullcontext():
            verdict = judge.judge(frames, blocks, as_shown=subject.export == "the scene's motion")
        narrow = _too_narrow(subject, folder, frames, {row.name: target, **others})
    except Exception:  # noqa: BLE001 - whatever it is, the file can't be read as it was written
        return Finding("unreadable", traceback.format_exc().splitlines()[-1], said.getvalue())
    found = _in_silence(verdict, said.getvalue())
    return Finding("bounds", narrow, said.getvalue()) if narrow and not found.kind else found


def _led(blocks: list[Any]) -> list[Any]:
    """Return objects with one first, which will be active, of the model that is edited, if there is any of it."""
    return sorted(blocks, key=lambda block: FIRST not in block)


def _too_narrow(subject: Subject, folder: Path, frames: held.Frames, files: dict[str, Path]) -> str:
    """Say where bounds that were written hold less of what is shown than the source's do, "" if they hold as much."""
    for name, path in files.items():
        far, frame = bounds.excess(name, path, frames)
        if far > bounds.ROUNDED:
            source = subject.place(folder)
            places = {each: source.with_suffix(other.suffix) for each, other in files.items()}
            beside = {each: place for each, place in places.items() if place != source and place.is_file()}
            known = places[name] == source or name in beside
            own = bounds.excess(name, places[name], held.loaded(subject.row, source, beside))[0] if known else 0.0
            if far > own + bounds.ROUNDED:
                return f"frame {frame} reaches {far:.3g} units beyond its bounds"
    return ""


def _failure(export: Callable[[], object], said: io.StringIO) -> Finding | None:
    """Export; return what went wrong, or that nothing is to be looked at; None if there is."""
    # Actions of rigs made of frames show the same from then on, as before another one plays.
    rig_settling.settle(block for block in bpy.context.scene.objects if block.type == "ARMATURE")
    bpy.context.view_layer.update()
    before, found = state(), None
    try:
        with contextlib.redirect_stdout(said):
            export()
    except RuntimeError as error:
        last = str(error).strip().splitlines()[-1]
        found = Finding("traceback", last) if "Traceback" in str(error) else Finding("")
    bpy.context.view_layer.update()
    touched = changed(before, state())
    if touched and (found is None or not found.kind):
        return Finding("scene", f"{len(touched)} changed by the export: {touched[0][:300]}", said.getvalue())
    return found


def _otherwise(subject: Subject, folder: Path) -> Finding:
    """Export what is there now, while another frame is shown, and saved and opened: the files have to be alike."""
    before, said = _files(subject, folder / "now")
    scene = bpy.context.scene
    scene.frame_set(scene.frame_current + 1)
    moved = _unlike(before, _files(subject, folder / "moved")[0])
    if moved and not _is_said(said):
        return Finding("frame", f"other files at another frame: {moved}", said)
    save_and_open(Random(0))
    opened = _unlike(before, _files(subject, folder / "opened")[0])
    if opened and not _is_said(said):
        return Finding("opened", f"other files when saved and opened: {opened}", said)
    return Finding("")


def _imported_again(subject: Subject, written: Path, folder: Path) -> Finding:
    """Import what was written into an empty scene, and export it: the files have to be the same."""
    row = subject.row
    names = sorted(path.name for path in written.iterdir() if path.stem == "a")  # levels are asked for
    target = written / f"a{row.suffixes[0]}"
    if target.name not in names:
        return Finding("")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    folder.mkdir()

    def write() -> None:
        operator("import", target)(filepath=str(target))
        for name in names:
            if name != target.name and row.skeletal.animation is not None and not row.skeletal.companions:
                operator("import", written / name)(filepath=str(written / name))
        if bpy.context.scene.objects:  # else what is active is the collection of a model that has none
            activate(*bpy.context.scene.objects)
        _export(replace(subject, export=""), folder / target.name)

    return _again(write, written, folder, lambda name: Path(name).stem == "a")


def _again(write: Callable[[], object], before: Path, after: Path, counts: Callable[[str], bool]) -> Finding:
    """Write what a folder has into another one, again; the files that count have to be the same, byte for byte."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            write()
    except RuntimeError as error:
        return Finding("again", str(error).strip().splitlines()[-1], said.getvalue())
    files, others = _contents(before), _contents(after)
    every = sorted(filter(counts, files.keys() | others.keys()))
    other = [name for name in every if files.get(name) != others.get(name)]
    return Finding("again", f"comes back otherwise: {', '.join(other)}", said.getvalue()) if other else Finding("")


def _files(subject: Subject, folder: Path) -> tuple[dict[str, bytes], str]:
    """Export all that is visible, or the player or the character; return the files, and what is said."""
    folder.mkdir()
    said = io.StringIO()
    visible = [block for block in bpy.context.scene.objects if block.visible_get()]
    if visible and (subject.format not in WHOLE or WHOLE[subject.format].choose()):
        with contextlib.redirect_stdout(said), contextlib.suppress(RuntimeError):
            if subject.format in WHOLE:
                WHOLE[subject.format].save(folder)
            else:
                activate(*_led(visible))
                _export(subject, folder / f"a{subject.row.suffixes[0]}")
    return _contents(folder), said.getvalue()


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, by their paths in it."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _unlike(files: dict[str, bytes], others: dict[str, bytes]) -> str:
    """Name the files that differ by more than Blender's own last digits, and names of frames."""
    every = sorted(files.keys() | others.keys())
    return ", ".join(name for name in every if not _are_alike(files.get(name), others.get(name)))[:300]


def _are_alike(data: bytes | None, other: bytes | None) -> bool:
    if data is None or other is None:
        return data == other
    data, other = (FRAME_NAME.sub(b"frame", each) for each in (data, other))
    parts, others = (each.split() if b"\0" not in each else list(each) for each in (data, other))
    unequal = sum(map(_differ, parts, others))
    return len(parts) == len(others) and unequal <= FEW * len(parts)


def _differ(one: bytes | int, two: bytes | int) -> bool:
    """Tell whether two bytes, or words of a text, are unequal; numbers may be as good as equal."""
    if one == two or isinstance(one, int) or isinstance(two, int):
        return one != two
    try:
        return abs(float(one) - float(two)) > NEAR * max(1.0, abs(float(one)))
    except ValueError:
        return True


def leave_edit_mode(blocks: list[Any]) -> None:
    """Let Blender show what was edited."""
    for block in (block for block in blocks if block.mode != "OBJECT"):
        bpy.context.view_layer.objects.active = block
        bpy.ops.object.mode_set(mode="OBJECT")


def _whole_outcome(subject: Subject, folder: Path, seed: int) -> Finding:
    """Save the player or the character that is in the scene, and compare."""
    said, out = io.StringIO(), folder / "out"
    if not WHOLE[subject.format].choose():
        return Finding("")
    failure = _failure(lambda: WHOLE[subject.format].save(out), said)
    if failure is not None:
        return failure
    blocks = list(bpy.context.scene.objects)
    leave_edit_mode(blocks)
    for block in bpy.context.view_layer.objects:  # what is hidden is written, too
        block.hide_set(False)
        block.show_only_shape_key = False
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            verdict, where = WHOLE[subject.format].judge(subject.name, folder, out, seed)
    except Exception:  # noqa: BLE001 - as above
        return Finding("unreadable", traceback.format_exc().splitlines()[-1], said.getvalue())
    found = _in_silence(verdict, said.getvalue())
    if found.kind:
        return Finding(found.kind, f"{where}: {found.text}", found.said)
    again = folder / "again"

    def in_both(name: str) -> bool:
        """Tell of what goes along whatever else there is: what a character's game has by now does not, or does."""
        return (out / name).is_file() and (again / name).is_file()

    return _again(lambda: WHOLE[subject.format].save_again(out, again), out, again, in_both)


def _in_silence(verdict: judge.Verdict, said: str) -> Finding:
    """Return what of a file is off, and goes unsaid."""
    if verdict.is_off and not _is_said(said):
        text = f"{verdict.far:.3g} units off in frame {verdict.frame} (allowed {verdict.allowed:.2g}), silently"
        return Finding("silent", text, said)
    if verdict.edges and not _is_said(said):
        return Finding("silent", verdict.edges, said)
    for kind in ("uvs", "shaders", "normals", "hung", "colors"):
        text = getattr(verdict.looks, kind)
        seen = kind != "hung" or not _is_said(said)  # in a frame that was found by the points of meshes
        if text and seen and not verdict.is_off and not any(map(ABOUT[kind].search, _sentences(said))):
            return Finding(kind, text, said)
    if verdict.uvs and not ABOUT_UVS.search(said):
        return Finding("silent", verdict.uvs, said)
    return Finding("")


def _export(subject: Subject, target: Path) -> dict[str, Path]:
    """Write a model, and its motions where they have a file of their own; returns the files beside it."""
    row, options = subject.row, EXPORTS[subject.export]
    operator("export", target)(filepath=str(target), **{"what": "SCENE", **options})
    if row.family is VERTEX or row.has_motions or row.skeletal.animation is None:
        return {}
    motion = row.skeletal.animation
    beside = target.with_suffix(motion.suffixes[0])
    with contextlib.suppress(RuntimeError):  # it has no action
        export = getattr(bpy.ops.export_anim, f"idtech_{motion.name}")
        known = export.get_rna_type().properties
        export(filepath=str(beside), **{name: value for name, value in options.items() if name in known})
    if not beside.is_file() and row.skeletal.companions:
        operator("export", target)(filepath=str(target), **{"what": "SCENE", "write_animation": True, **options})
    return {motion.name: beside} if beside.is_file() else {}


def _is_said(text: str) -> bool:
    """Tell whether a report says anything that has to do with where a model is."""
    plain = [NAMED.sub("", part) for part in _sentences(text)]
    return any(part.strip() and not OTHER.search(part) for part in plain)


def _sentences(text: str) -> list[str]:
    """Return what a report says beside how much there is of what."""
    found = [part for line in text.splitlines() for part in line.split(";")[1:]]
    return found + [line for line in text.splitlines() if not line.startswith(("Info:", "Warning:"))]


def subjects(wanted: list[str]) -> list[Subject]:
    """Return the models of some formats to begin with, samples first."""
    found = []
    for name in wanted:
        if name in WHOLE:
            found += [Subject(name, called) for called in WHOLE[name].names(CORPUS)]
            continue
        own = [Subject(name, sample_name) for sample_name in SAMPLES[name]]
        suffixes = formats.by_name(name).suffixes
        real = sorted(p for p in CORPUS.rglob("*") if p.suffix.lower() in suffixes and p.stat().st_size < LARGEST)
        found += own + [Subject(name, path.relative_to(CORPUS).as_posix()) for path in real]
    return found
