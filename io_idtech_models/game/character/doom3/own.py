"""What declares a character of Doom 3, as text files of its own: taken out of files that declare others, too.

A definition goes along as it stands, but for its comments. What a game's folder has in other files stays there: of two
definitions of a name the game takes that which it reads first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ...dress import SkinDecl, parse_decl
from ...lexer import BLANKS, decl_key, decode
from ...search import game_folder
from ...shaders.index import scan_decls
from ...shaders.library import KINDS, MATERIAL, SKIN, Definition
from ...store import GameFile, Store, name_parts
from ..files import COMMANDS, FLAGS, CharacterFiles
from . import FOLDER, SUFFIX, edits
from .declarations import ENTITY, INHERIT, MODEL, Body, Model, read_model
from .edits import declares, with_anims, with_blocks
from .files import declarations
from .library import Declarations, declarations_of

TABLE = "table"
PLACES = {  # of each kind of declaration: its folder, and how files there end
    MODEL: (FOLDER, SUFFIX),
    ENTITY: (FOLDER, SUFFIX),
    SKIN: ("skins", ".skin"),
    MATERIAL: ("materials", ".mtr"),
    TABLE: ("materials", ".mtr"),
}
LOOKED_UP = re.compile(r"([A-Za-z_]\w*)\s*\[")  # a table's name in a material
NOT_IN_FILE_NAMES = re.compile(r"[^\w-]+")  # what a file's name is without


def texts_of(character: CharacterFiles, materials: Iterable[str]) -> dict[str, bytes]:
    """Return files that declare a character, by their paths in the game; `materials` are those that it wears."""
    decls = declarations(character.file)
    found = list(character.declarations)
    for name in sorted(set(materials)):
        material = decls.material(name)
        if material is None:
            continue
        tables = (decls.material(each, TABLE) for each in LOOKED_UP.findall(material.body))
        found += [*(table for table in tables if table is not None), material]
    by_place: dict[str, dict[tuple[str, str], str]] = {}
    stem = NOT_IN_FILE_NAMES.sub("_", character.name.lower()).strip("_") or "character"
    for each in found:
        folder, suffix = PLACES[each.kind]
        by_place.setdefault(f"{folder}/{stem}{suffix}", {})[each.kind, decl_key(each.name)] = _block(each)
    return {path: "\n".join(blocks.values()).encode() for path, blocks in by_place.items()}


def _block(found: Definition) -> str:
    """Return a definition as text."""
    lines = [line.rstrip() for line in found.body.splitlines()]
    body = "\n".join(line for line in lines if line).strip("\n")
    name = f'"{found.name}"' if any(letter in found.name for letter in " \t") else found.name
    return f"{found.kind.replace('entitydef', 'entityDef')} {name}\n{{\n{body}\n}}\n"


def with_animations(
    texts: Mapping[str, bytes],
    model: str,
    anims: Mapping[str, Iterable[str]],
    blocks: Mapping[str, list[str]],
) -> dict[str, bytes]:
    """Return the files of which one declares a model, with further animations of that, by the files that each plays.

    Raises:
        LimitError: a name can't be one of an animation.
    """
    own = {}
    for path, data in texts.items():
        if path.startswith(f"{FOLDER}/") and any(
            kind == MODEL and key == decl_key(model) for kind, key in _in(data, path)
        ):
            own[path] = with_anims(data, model, {name: list(files) for name, files in anims.items()}, "", blocks)
    return own


def with_notes(
    texts: Mapping[str, bytes], model: str, notes: Mapping[str, Mapping[str, Sequence[str]]]
) -> dict[str, bytes]:
    """Return the files that what the game does with a model's animations changes: FLAGS and COMMANDS by their names.

    `model` is a name, or the path of a mesh. What is not there of the notes stays as it is declared; an inherited
    animation is declared anew, with its own files.

    Raises:
        LimitError: a line can't stand in a declaration.
    """
    bodies = _models_in(texts)
    model = _with_mesh(bodies, model) or model
    known, anew, blocks = _model(bodies, model).anims, {}, {}
    for name, said in notes.items():
        anim = known.get(name)
        if anim is None:
            continue
        flags_before = [each for each in map(str.strip, ", ".join(anim.flags).split(",")) if each]  # as they are shown
        before = flags_before, [_words(f"{each.frame} {each.text}") for each in anim.commands]
        flags = [*said.get(FLAGS, flags_before)]
        commands = [_words(each) for each in said[COMMANDS]] if COMMANDS in said else before[1]
        if (flags, commands) != before:
            anew[name], blocks[name] = anim, [*flags, *(" ".join(["frame", *each]) for each in commands)]
    changed = {}
    for path, data in texts.items():
        if anew and path.startswith(f"{FOLDER}/") and (MODEL, decl_key(model)) in _in(data, path):
            lacking = {name: [*anim.files] for name, anim in anew.items() if not declares(data, model, name)}
            own = with_blocks(data, model, {name: lines for name, lines in blocks.items() if name not in lacking})
            changed[path] = with_anims(own, model, lacking, "", blocks) if lacking else own
    return changed


def with_skin(texts: Mapping[str, bytes], more: Mapping[str, bytes], name: str, skin: str) -> dict[str, bytes]:
    """Return the files that change where a character, an entity or else a model of a name, wears another skin.

    `more` declare that, and its materials: what of these is not declared yet is put behind what is.

    Raises:
        LimitError: the skin's name can't be written there.
    """
    there = {key for path, data in texts.items() for key in _in(data, path)}
    kind = ENTITY if (ENTITY, decl_key(name)) in there else MODEL
    found = {}
    for path, data in more.items():
        lacking = [
            block for key, block in _in(data, path).items() if key[0] not in {ENTITY, MODEL} and key not in there
        ]
        if lacking:
            found[path] = b"\n".join([*([texts[path]] if path in texts else []), "\n".join(lacking).encode()])
    for path, data in texts.items():
        if (kind, decl_key(name)) in _in(data, path):
            found[path] = edits.with_skin(found.get(path, data), kind, name, skin)
    return found


def find_skin(texts: Mapping[str, bytes], name: str) -> SkinDecl | None:
    """Return the skin of a name that texts declare, the first; None if they do not."""
    key = SKIN, decl_key(name)
    found = next((each[key] for each in (_in(data, path) for path, data in texts.items()) if key in each), None)
    return None if found is None else parse_decl(_inner(found), name)


def _models_in(texts: Mapping[str, bytes]) -> dict[str, Body]:
    """Return what the models are that texts declare, by their names as these are compared; of two of one the first."""
    found: dict[str, Body] = {}
    for path, data in texts.items():
        text, every = scan_decls(decode(data)[0], ENTITY) if path.startswith(f"{FOLDER}/") else ("", [])
        for each in (each for each in every if each.kind == MODEL):
            found.setdefault(decl_key(each.name), read_model(text[each.start : each.end]))
    return found


def _inherited(body: Body) -> tuple[str, int]:
    """Return the model that another goes on from, "" for none, and where what it says itself begins."""
    found = [(nth, each.values[0]) for nth, each in enumerate(body.statements) if each.word == INHERIT]
    return (decl_key(found[-1][1]), found[-1][0] + 1) if found else ("", 0)


def _model(bodies: Mapping[str, Body], name: str) -> Model:
    """Return a model with what it inherits of others."""
    chain, key = dict[str, int](), decl_key(name)
    while key in bodies and key not in chain:
        parent, chain[key] = _inherited(bodies[key])
        key = parent
    model = Model(name)
    for key, first in reversed(chain.items()):
        model.apply(bodies[key].statements[first:], "")
    return model


def _with_mesh(bodies: Mapping[str, Body], mesh: str) -> str:
    """Return the first model that has a mesh and that no other with it goes on from; "" for none."""
    wanted = "/".join(name_parts(mesh.lower()))
    own = [name for name in bodies if "/".join(name_parts(_model(bodies, name).mesh.lower())) == wanted]
    above = {_inherited(bodies[name])[0] for name in own}
    return next((name for name in own if name not in above), "")


def _in(data: bytes, path: str) -> dict[tuple[str, str], str]:
    """Return what a text declares, by kinds and names as they are compared: each as it stands there."""
    default = KINDS.get(path[path.rfind(".") :].lower(), MATERIAL)
    text, found = scan_decls(decode(data)[0], default)
    starts = [0, *(each.end + 1 for each in found)]
    return {
        (each.kind, decl_key(each.name)): text[start : each.end + 1].strip(BLANKS) + "\n"
        for start, each in zip(starts, found, strict=False)
    }


def settled(folder: Store, texts: Mapping[str, bytes]) -> tuple[dict[str, bytes], list[str]]:
    """Return the files that go into a game's folder or archive, without what others there declare; and what is odd.

    A file that is there, and declares more, is somebody else's: another name is taken.
    """
    own = declarations_of(folder)
    game = game_folder(GameFile(folder, "")) or folder
    whole = declarations_of(game, game.elsewhere)
    found: dict[str, bytes] = {}
    odd: list[str] = []
    for path, data in texts.items():
        there = _in(data, path)
        place = _free(folder, path, there.keys())
        lacking = {}
        for (kind, key), block in there.items():
            known, other = (_find(decls, kind, key) for decls in (own, whole))
            if (
                other is not None
                and other.file.lower() != place.lower()
                and _words(other.body) != _words(_inner(block))
            ):
                odd.append(f"'{other.file}' has another {kind} '{other.name}': it stays, and may be what counts")
            if known is None or known.file.lower() == place.lower():
                lacking[kind, key] = block
        if len(lacking) == len(there):
            found[place] = data
        elif lacking:
            found[place] = "\n".join(lacking.values()).encode()
    return found, list(dict.fromkeys(odd))


def _free(folder: Store, path: str, mine: Iterable[tuple[str, str]]) -> str:
    """Return a path that nobody has, or whose file declares nothing but what is `mine`."""
    place, own = path, set(mine)
    for number in range(2, 1000):
        *folders, name = place.split("/")
        file = folder.find_first(folders, [name])
        if file is None or _in(file.read(), place).keys() <= own:
            return place
        stem, dot, suffix = path.rpartition(".")
        place = f"{stem}_{number}{dot}{suffix}"
    return place


def _find(decls: Declarations, kind: str, key: str) -> Definition | None:
    if kind in (MODEL, ENTITY):
        return decls.find(key, kind)
    return decls.skin(key) if kind == SKIN else decls.material(key, kind)


def _inner(block: str) -> str:
    """Return what stands between a definition's braces."""
    return block[block.index("{") + 1 : block.rindex("}")]


def _words(text: str) -> list[str]:
    return text.split()
