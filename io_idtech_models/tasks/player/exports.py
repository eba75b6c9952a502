"""Whole players out of the scene: models with their levels of detail, skins, and the table of animations.

His parts are written as the game takes them: with fewer triangles, and surfaces cut, if that is asked for.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any
from zlib import crc32

from ... import formats
from ...assets.export_request import ExportRequest
from ...assets.levels import NEAR, dump_levels, level_name
from ...blender import names
from ...blender.compat import Block, Context
from ...blender.mesh import levels
from ...blender.player.assembly import BEFORE, ON_TAGS
from ...blender.player.build import PARTS, stored_files
from ...blender.player.parts import PlayerFound, all_shown, find_player, players_among
from ...blender.provenance import CHECKSUM, FILE, MODEL_ID, model_of, unit_of
from ...blender.roots import root_of, weighted_parts
from ...blender.scene import ExportScene, objects_in
from ...blender.unkeyed import left_alone
from ...blender.vertex.frame_plan import GatherSettings
from ...blender.window import object_mode, selected
from ...formats.format import SPLIT
from ...formats.vertex_files import MUST_LIST, Written, dump_for
from ...game.dress import LEVEL
from ...game.player.files import HEAD
from ...game.skin import SUFFIX, skins_of
from ...game.store import split_name
from ...model.limits.checks import MUST_SAY_SO
from ...model.limits.games import NO_GAME
from ...model.limits.tags import gone_tags
from ...model.vertex import VertexModel
from ...reporting import LimitError, Summary, collected_warnings, listed, plural
from ..export.advice import of_materials, of_unit
from ..export.left_out import left_out
from ..export.levels import STALE, say_other_frames, say_stale
from ..export.selection import Choice, beside_parts, choose, is_written, part_of
from ..export.skin_files import bare, listed_in, skin_of, skin_with
from ..export.vertex import gathered
from ..skins import skin_worn_by
from .tables import KINDS, lack_of_parts, table_file

log = logging.getLogger(__name__)

FORMAT = "md3"
SAME_SIZE = 1e-6  # of a scale
Parts = dict[tuple[str, int], tuple[str, Written]]  # by part and level of detail: the file's name, and what is in it


@dataclass(frozen=True)
class SaveOptions:
    """How a player is written; the export operator declares the same options."""

    scale: float
    game: str = NO_GAME
    normals: str = "SOURCE"
    keep_suffixes: bool = False
    shares: tuple[
        float, ...
    ] = ()  # of the triangles that levels of detail made anew have; else the scene's are written
    split_surfaces: bool = False  # that are too large for the game
    new_skin: str = ""  # what is worn becomes a skin of that name, and the one that was worn stays as it was
    triangles: int = 0  # the most that the parts have together; 0: all that there are


@dataclass(eq=False)
class SavedPlayer:
    """The files of a player, by their names in its folder."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    facts: str = ""
    skin: str = ""  # a new one
    meshes: list[Block] = field(default_factory=list)  # that its parts were written of


def chosen_player(context: Context, collection_name: str = "") -> PlayerFound:
    """Return the player of the active object, of what is selected, or the scene's only one.

    Raises:
        LimitError: there is none, or there are several.
    """
    import bpy

    if collection_name:
        collection = bpy.data.collections.get(collection_name)
        found = players_among([] if collection is None else objects_in(collection))
    else:
        own = find_player(context.view_layer.objects.active)
        if own is not None:
            return own
        found = players_among(selected(context)) or players_among(context.scene.objects)
    if len(found) == 1:
        return found[0]
    if not found:
        shown = [each.name for each in context.scene.objects if _shows_player(each)]
        if shown:
            how = "link its collection into the scene, or Object > Apply > Make Instances Real"
            raise LimitError(f"the player is shown as an instance alone, {how}: {listed(shown)}")
        raise LimitError("there is no player: import one, or make one of a rigged character, first")
    called = listed([player_name(player) for player in found])
    raise LimitError(f"there are {len(found)} players, make an object of one active: {called}")


def _shows_player(block: Any) -> bool:
    """Tell whether an object shows a collection with a player as an instance."""
    home = block.instance_collection if block.instance_type == "COLLECTION" else None
    return home is not None and bool(players_among(objects_in(home)))


def player_name(player: PlayerFound) -> str:
    """Return what a player is called in its game."""
    return names.file_name_of(player.holder)


def save_player(player: PlayerFound, options: SaveOptions, context: Context) -> tuple[SavedPlayer, Summary]:
    """Return the files of a player, as the scene shows its parts; what has not been edited as it was.

    Raises:
        ModelError: a part can't be written.
    """
    if not player.parts.keys() & set(KINDS):
        raise LimitError(f"'{player_name(player)}' has no parts any more: {listed(list(PARTS))} are what a player is")
    with collected_warnings() as warnings, left_alone(context), object_mode(context):
        saved = SavedPlayer(player_name(player), skin=options.new_skin.strip().lower())
        chosen = {(kind, 0): part_of(context, root) for kind, root in player.parts.items() if kind in KINDS}
        afar = {} if options.shares else {key: own for key, own in player.levels.items() if key[0] in KINDS}
        for key, collection in sorted(afar.items()):
            chosen[key] = choose(context, "AUTO", collection.name)
        known = {block for choice in chosen.values() for block in (*choice.whole, *choice.shapes)}
        strays = _strays(player, context, known)
        meshes: dict[str, list[Block]] = {}
        pieces: dict[str, list[str]] = {}
        try:
            made = _written(chosen, options, context)
        except LimitError as error:
            raise LimitError("; ".join([str(error), *strays])) from error
        for (kind, level), (name, written) in made.items():
            saved.files[name] = written.data
            pieces |= {n: every for n, every in written.pieces.items() if len(every) > len(pieces.get(n, []))}
            if not level:
                meshes[kind] = [block for block in chosen[kind, level].whole if block.type == "MESH"]
                saved.files |= _new_levels(name, written.data, options.shares)
        _warn_of_rows(player, made, meshes, options, context)
        saved.meshes = [mesh for part in meshes.values() for mesh in part]
        warnings.extend(of_materials(saved.meshes, formats.by_name(FORMAT), options.keep_suffixes))
        warnings.extend(of_unit({player_name(player): unit_of(*saved.meshes)}, options.scale))
        _warn_of_parts(player, options.scale)
        _warn_of_levels(chosen, made, saved)
        _warn_of_made_levels(chosen, options, context)
        saved.files |= _skins(player, stored_files(player.collection), meshes, pieces, saved.skin)
        saved.files |= table_file(player, context)
        for text in strays:
            log.warning("%s", text)
    parts, levels_of_all = len(meshes), sum(bool(LEVEL.search(split_name(name)[0])) for name in saved.files)
    facts = f"{plural(parts, 'part')}, {plural(levels_of_all, 'level')} of detail, {plural(len(saved.files), 'file')}"
    facts += f", {plural(triangles_of(made), 'triangle')}" if options.triangles else ""
    held = [names.file_name_of(root) for kind, root in player.parts.items() if kind not in KINDS]
    notes = [f"no part of it, models of their own (Export: MD3): {listed(held)}"] if held else []
    left = [block for (_, level), choice in chosen.items() if not level for block in choice.hidden]
    hidden = [block.name for block in left if is_written(block)]
    notes += [f"written though they are hidden: {listed(hidden)}"] if hidden else []
    return saved, Summary(facts, list(dict.fromkeys(warnings)), notes)


def _written(chosen: dict[tuple[str, int], Choice], options: SaveOptions, context: Context) -> Parts:
    """Return the files of all parts and levels; raises ModelError."""
    own = {SPLIT: options.split_surfaces}
    first, asked_own = (options.game, own) if not options.triangles else (NO_GAME, {})
    found: Parts = {}
    for (kind, level), choice in chosen.items():
        name = part_file(kind, level, choice.collection)
        try:
            found[kind, level] = name, _part(ExportRequest(Path(name), first, asked_own), choice, options, context)
        except LimitError as error:
            raise LimitError(f"{name}: {error}{_way_out(level, choice)}") from error
        if level and (kind, 0) in found:
            say_other_frames(name, found[kind, 0][1].model, found[kind, level][1].model)
        if not level:  # games ask the nearest one for its tags
            on_it = [ON_TAGS[part] for part, above in BEFORE.items() if above == kind and (part, 0) in chosen]
            for problem in gone_tags(found[kind, level][1].model, on_it):
                log.warning("%s: %s", name, problem)
    return within(found, options.triangles, options.game, own) if options.triangles else found


def _way_out(level: int, choice: Choice) -> str:
    """Return what to do about a part, or a level of one, that can't be written, in words."""
    if level and choice.collection is not None:
        return f" (make levels of detail anew, or delete the collection '{choice.collection.name}')"
    if any(block.type == "MESH" for block in choice.whole):
        return ""
    return " (games ask for each part: hang a mesh on its root, be it one triangle inside another part)"


def _part(asked: ExportRequest, chosen: Choice, options: SaveOptions, context: Context) -> Written:
    """Return what is to be in a part's file, hidden objects and all."""
    settings = GatherSettings(
        frames="KEYS", scale=options.scale, normals=options.normals, keep_suffixes=options.keep_suffixes
    )
    whole = chosen.with_hidden()
    with all_shown(context.view_layer, whole.blocks):
        written = part_for(asked, whole, context, settings)
    for text in [*notes_of(written, reduced=bool(options.triangles)), *left_out(whole)]:
        log.warning("%s: %s", asked.target.name, text)
    return written


def _new_levels(name: str, data: bytes, shares: Sequence[float]) -> dict[str, bytes]:
    """Return the files of levels of detail made of a part's own file."""
    if not shares:
        return {}
    stem, suffix = split_name(name)
    files, notes = dump_levels(formats.by_name(FORMAT), data, stem, shares)
    for note in notes:
        log.warning("%s", note)
    return {level_name(stem, number) + suffix: each for number, each in enumerate(files, 1)}


def part_file(kind: str, level: int, collection: Any) -> str:
    """Return what a part's file is called: as the one that it came from, if games know that name, else as they do.

    World of Padman has a head for each skin, `head_SKIN.md3`.
    """
    ending = (f"_{level}" if level else "") + ".md3"
    found = None if collection is None else collection.get(FILE)
    own = PurePath(found).name if isinstance(found, str) else ""
    is_heads = kind == HEAD and own.lower().startswith(f"{HEAD}_") and own.lower().endswith(ending)
    return own if is_heads or own.lower() == kind + ending else kind + ending


def _warn_of_parts(player: PlayerFound, unit: float) -> None:
    foreign = [collection.name for key, collection in player.foreign.items() if key not in player.levels]
    if foreign:
        text = "levels of detail of the player that this one is a copy of are not written, make them anew: %s"
        log.warning(text, listed(foreign))
    lack = lack_of_parts(player)
    if lack:
        log.warning("%s", lack)
    for kind, root in player.parts.items():
        if max(abs(scale - 1.0) for scale in root.scale) > SAME_SIZE:
            is_whole = root == player.root and max(root.scale) - min(root.scale) < SAME_SIZE and root.scale.x > 0
            how = f"Scale {unit / root.scale.x:.4g} writes the whole player as large as it shows" if is_whole else ""
            text = "the root of %s is scaled, files have the model's own size: %s"
            log.warning(text, kind, how or "clear its scale (Alt+S)")


def _warn_of_rows(
    player: PlayerFound, made: Parts, meshes: Mapping[str, list[Block]], options: SaveOptions, context: Context
) -> None:
    """Say which parts show something else while rows play than is written."""
    from ...blender.player.selfcheck import WrittenPart, differences  # which an import does without

    parts = {k: WrittenPart(player.parts[k], blocks, made[k, 0][1].model) for k, blocks in meshes.items()}
    export = ExportScene(context.scene, context.view_layer, GatherSettings(scale=options.scale))
    with all_shown(context.view_layer, [block for blocks in meshes.values() for block in blocks]):
        for text in differences(parts, export, points=not options.triangles):
            log.warning("%s", text)


def _warn_of_levels(chosen: dict[tuple[str, int], Choice], made: Parts, saved: SavedPlayer) -> None:
    """Say which levels of detail are older than what they are levels of, but for frames that both got and lost."""
    written = {f"{crc32(data):08x}" for data in saved.files.values()}

    def is_edited(kind: str, level: int) -> bool:
        home = chosen[kind, level].collection
        return home is None or not (home.get(CHECKSUM) in written or made[kind, level][1].model.keeps_shape())

    for (kind, level), choice in chosen.items():
        if level and (kind, 0) in chosen and not is_edited(kind, level) and is_edited(kind, 0):
            base = part_file(kind, 0, chosen[kind, 0].collection)
            log.warning(STALE, base, part_file(kind, level, choice.collection))


def _warn_of_made_levels(chosen: dict[tuple[str, int], Choice], options: SaveOptions, context: Context) -> None:
    """Say which levels of detail were made of what their part was before it was edited."""
    made = [key for key, choice in chosen.items() if choice.collection is not None and levels.made(choice.collection)]
    for kind in dict.fromkeys(kind for kind, _ in made if (kind, 0) in chosen):
        part = chosen[kind, 0]
        whole = part.with_hidden()
        with all_shown(context.view_layer, whole.blocks):
            say_stale(Path(part_file(kind, 0, part.collection)), whole, context, options.scale)


def _skins(
    player: PlayerFound,
    kept: dict[str, bytes],
    meshes: dict[str, list[Block]],
    pieces: dict[str, list[str]],
    new: str = "",
) -> dict[str, bytes]:
    """Return the skins: the one that is worn as the surfaces wear it, the others as they are.

    New surfaces that a skin does not list are added to it: games would show them grey.
    """
    files = {name: data for name, data in kept.items() if name.lower().endswith(SUFFIX)}
    missing: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for kind, blocks in meshes.items():
        own = skins_of(kind, files)
        worn = skin_worn_by(player, kind, own)
        part = player.parts[kind].get(MODEL_ID)
        strangers = [block for block in blocks if model_of(block) not in ("", part)]
        if new:
            if worn in own:
                files = {f"{kind}_{new}{SUFFIX}": files[own[worn]]} | files
            own, worn = skins_of(kind, files), new
        shown = files.get(own.get(worn, ""))
        for skin in dict.fromkeys([*own, *([worn] if worn else [])]):
            name = own.get(skin, f"{kind}_{skin}{SUFFIX}")
            if skin == worn:
                files[name] = skin_of(blocks, files.get(name), pieces)[0]
                continue
            if same := listed_in(strangers, files[name]):
                others.setdefault(listed(same), []).append(name)
            files[name], added = skin_with(blocks, files[name], pieces, strangers, shown)
            if added:
                missing.setdefault(listed(added), []).append(name)
    _say_unlisted(missing, others, meshes.values())
    return files


def _say_unlisted(
    missing: Mapping[str, list[str]], others: Mapping[str, list[str]], meshes: Iterable[list[Block]]
) -> None:
    """Say which surfaces skins don't list: those that are added to them, those of other models, and bare ones."""
    for surfaces in filter(None, (listed(bare(blocks)) for blocks in meshes)):
        log.warning("%s: no skin that is worn lists them, games show them grey (give them a material)", surfaces)
    for surfaces, names_of_skins in missing.items():
        text = "%s: not listed in %s, added there, dressed as what they were or wears the same now, else as worn now"
        log.warning(text, surfaces, listed(names_of_skins))
    for surfaces, names_of_skins in others.items():
        text = "%s came with another model, and %s dress what it replaced: edit these, or give it another name"
        log.warning(text, surfaces, listed(names_of_skins))


def _strays(player: PlayerFound, context: Context, taken: set[Any]) -> list[str]:
    """Name, in sentences, what lies in the player's collection or hangs on it, and is no part's."""
    inside: Iterable[Any] = [] if player.collection is None else player.collection.objects
    loose = [b for b in inside if b.type == "MESH" and root_of(b) is None and b not in taken]
    others = list(dict.fromkeys([*loose, *beside_parts(context, player.root, taken)]))
    between = [b for b in others if len(weighted_parts(b)) > 1]
    strays = [b for b in loose if b not in between]
    others = [b for b in others if b not in between and b not in strays]
    models, unfit = [b for b in others if model_of(b)], [b for b in others if not model_of(b)]
    kinds = (
        ("left out, bones of several parts move it (Make Quake III Player cuts it, or weight it to one part)", between),
        ("left out, hangs on no part (parent it to a part's root)", strays),
        ("left out, other models that hang on the player", models),
        ("left out, they hang on a tag that carries no part, or are no meshes (parent meshes to a part's root)", unfit),
    )
    return [f"{text}: {listed([b.name for b in found])}" for text, found in kinds if found]


def part_for(asked: ExportRequest, chosen: Choice, context: Context, settings: GatherSettings) -> Written:
    """Return a part as its game takes it; one that is as it came stays, with a warning if the game refuses it.

    Raises:
        LimitError: the game would refuse it.
    """
    row = formats.by_name("md3")
    try:
        return gathered(asked, row, chosen, context, settings)
    except LimitError as error:
        whole = gathered(ExportRequest(asked.target), row, chosen, context, settings) if asked.game != NO_GAME else None
        came = None if chosen.collection is None else chosen.collection.get(CHECKSUM)
        if whole is None or f"{crc32(whole.data):08x}" != came:
            raise
        log.warning("%s is written as it came, though its game refuses it: %s", asked.target.name, error)
        return whole


def within(parts: Parts, most: int, game: str, options: Mapping[str, Any]) -> Parts:
    """Return parts that have so many triangles together, each the same share of its own, and its levels of detail.

    Raises:
        LimitError: the game would refuse one nevertheless.
    """
    row = formats.by_name("md3")
    total = triangles_of(parts)
    found: Parts = {}
    for key, (name, written) in parts.items():
        model = row.load(written.data, Path(name).stem)
        if total > most and _count(model):
            model = _with_share(model, most / total, name)
        found[key] = name, dump_for(row, model, game, options)
        for note in notes_of(found[key][1], reduced=False):
            log.warning("%s: %s", name, note)
    return found


def triangles_of(parts: Parts) -> int:
    """Return how many triangles a player has, without its levels of detail."""
    return sum(_count(written.model) for (_, level), (_, written) in parts.items() if not level)


def notes_of(written: Written, reduced: bool) -> list[str]:
    """Return what there is to say of a part with its skins; what its game says of it not before it is reduced."""
    row = formats.by_name("md3")
    gone = {str(problem) for problem in row.check(written.model, NO_GAME)} if reduced else set()
    said = "\n".join(note for note in written.notes if note not in gone)
    return said.replace(MUST_LIST, "its skins list the pieces").replace(MUST_SAY_SO, "its skins do").splitlines()


def _with_share(model: VertexModel, share: float, name: str) -> VertexModel:
    from ...model.lod.levels import make_level, share_left

    found = make_level(model, share)
    left = share_left(found, model)
    if left > NEAR * share:
        text = "%s has %.0f %% of its triangles, not %.0f: no more can go without a tear"
        log.warning(text, name, 100 * left, 100 * share)
    return found


def _count(model: VertexModel) -> int:
    return sum(len(surface.triangles) for surface in model.surfaces)
