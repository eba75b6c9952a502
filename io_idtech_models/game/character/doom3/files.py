"""Which files make a character of Doom 3 and its kin, wherever they lie: found from a `.def`, or from a mesh.

Facts (idActor::Spawn, SetupHead and Attach, idAFAttachment::SetBody, idAnimatedEntity::SetModel of dhewm3):

- An entity looks like the model that its `model` names: a declaration, else a file. Its `skin` counts before the
  model's.
- `def_head` is a model that hangs on the joint `head_joint`, as it stands: along the body's axes. In Quake 4 and mods
  it is an entity that looks like one.
- Whatever begins with `def_attach` is an entity that hangs on the joint that its own `joint` names, `origin` from there
  along the body's axes, and turned by `angles` from the joint's. What is put on is put on while the body shows the
  first frame of its animation `ik_pose`, and goes along with the joint from then on.
- A head plays animations of its own model (idActor::SetupBody), and so may what is attached. By a model's `offset` what
  looks like it is moved along its own axes, be that the body, a head or a thing attached.
- A player's `def_weapon0` to `def_weapon15` are entities whose `model_world` hangs on the joint `joint_attach`, turned
  as that is (idWeapon::InitWorldModel); the one that he holds at first has the number `current_weapon`.
- `bind` names an entity of a map, which no declaration has: it is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ....reporting import LimitError, listed
from ...dress import SkinDecl, parse_decl
from ...lexer import NUMBER, decl_key, fold, number, shown_name
from ...search import game_folder, game_name
from ...store import GameFile, Store, name_parts
from ..files import (
    BODY,
    COMMANDS,
    FLAGS,
    HEAD,
    IN_STEP,
    Asked,
    CharacterFiles,
    Finder,
    MotionFile,
    Piece,
    Placing,
    Shown,
    game_of,
)
from . import FOLDER, SUFFIX
from .declarations import ENTITY, MESH_SUFFIX, MODEL, Anim, Model
from .library import Declarations, Entity, declarations_of

GAME = "doom3"
POSE = "ik_pose"  # the animation in whose first frame things are put on (IK_ANIM)
ATTACHED, DEF_HEAD, HEAD_JOINT = "def_attach", "def_head", "head_joint"
WEAPON, CURRENT, HELD = "def_weapon", "current_weapon", "weapon"
IDLE = "idle"  # what pieces with animations of their own show at first
MODELS = (MESH_SUFFIX, ".lwo", ".ase")  # of what is named by its file
MOST_PIECES = 64


def character_of(file: GameFile, skin: str = "", name: str = "") -> CharacterFiles:
    """Return the character that a file of declarations, or a mesh, means; by `name` an entity or a model of the game.

    Raises:
        ModelError: the file can't be read, or there is no such character.
    """
    file.read()  # one that can't be read says why; a library of scripts would go on without it
    decls = declarations(file)
    chosen, others = _chosen(file, decls, name)
    found = _Found(file, decls, chosen, skin)
    if others:
        found.miss(f"'{file.name}' has other characters, too, which can be chosen by name: {listed(others)}")
    return found.character


def names_in(file: GameFile) -> list[str]:
    """Return the characters that a file declares: entities with bones, and models that none of these looks like."""
    return [each.name for each in _candidates(file, declarations(file))]


def place_of(file: GameFile) -> str:
    """Return what tells a file of characters apart from others: its name."""
    return file.stem


def declarations(file: GameFile) -> Declarations:
    """Return the declarations of the game of a file that names a character, or is a mesh."""
    if file.suffix.lower() == SUFFIX:
        return declarations_of(game_of(file, FOLDER), file.layer.elsewhere, file)
    return declarations_of(game_folder(file), file.layer.elsewhere)


@dataclass(frozen=True)
class _Chosen:
    """What a character is called, and what it looks like."""

    name: str
    entity: str  # "": the model alone
    model: str  # "": none is declared


def _chosen(file: GameFile, decls: Declarations, name: str) -> tuple[_Chosen, list[str]]:
    """Return the character that is meant, and which others the file has; raises LimitError."""
    if name:
        return _by_name(decls, name), []
    if file.suffix.lower() != SUFFIX:
        return _of_mesh(file, decls)
    found = _candidates(file, decls)
    if not found:
        raise LimitError(
            f"it declares no character: no entity with a model of bones ({MESH_SUFFIX}), and no such model"
        )
    home = game_of(file, FOLDER)
    first = next((each for each in found if _is_there(home, decls.mesh_of(each.model) or each.model)), found[0])
    return first, [each.name for each in found if each != first]


def _is_there(home: Store | None, mesh: str) -> bool:
    """Tell whether a game has a mesh."""
    *folders, name = name_parts(mesh) or [""]
    return home is not None and bool(name) and home.find_first(folders, [name]) is not None


def _by_name(decls: Declarations, name: str) -> _Chosen:
    """Return the entity or the model of a name; raises LimitError."""
    entity = decls.entity(name)
    if entity is not None:
        return _Chosen(entity.name, entity.name, entity.value("model"))
    model = decls.find(name, MODEL)
    if model is None:
        raise LimitError(f"the game declares no entity and no model '{shown_name(name)}'")
    return _Chosen(model.name, "", model.name)


def _candidates(file: GameFile, decls: Declarations) -> list[_Chosen]:
    """Return the characters of a file of declarations: those that count, in the file's order."""
    place = f"{FOLDER}/{file.name}".lower()
    found, used = [], set()
    for name in decls.names_of(place, ENTITY):
        model = decls.value_of(name, "model")
        if model and (decls.mesh_of(model) or _is_mesh(model)):
            found.append(_Chosen(name, name, model))
            used.add(decl_key(model))
    for name in decls.names_of(place, MODEL):
        if decl_key(name) not in used and decls.mesh_of(name):
            found.append(_Chosen(name, "", name))
    return found


def _is_mesh(name: str) -> bool:
    return fold(name).endswith(MESH_SUFFIX)


def _of_mesh(file: GameFile, decls: Declarations) -> tuple[_Chosen, list[str]]:
    """Return the character that a mesh is the body of, and others; itself alone where none is declared."""
    own = fold("/".join(name_parts(game_name(file))))
    models = decls.models_of(lambda name: fold("/".join(name_parts(name))) == own)
    found = [_Chosen(name, name, model) for name, model in decls.entities_of(models)]
    found = found or [_Chosen(name, "", name) for name in models]
    if not found:
        return _Chosen(file.stem, "", ""), []
    return found[0], [each.name for each in found[1:]]


class _Found(Finder):
    """Looks a character's files up."""

    def __init__(self, file: GameFile, decls: Declarations, chosen: _Chosen, skin: str) -> None:
        home = game_of(file, FOLDER) if file.suffix.lower() == SUFFIX else game_folder(file)
        super().__init__(CharacterFiles(chosen.name, file, GAME), home)
        self.decls = decls
        self.entity = decls.entity(chosen.entity) or Entity(chosen.name)
        self.model_decl = self.declared(chosen.model)
        self.character.entries, self.character.shown = self.entity.values, Shown(moved=self.model_decl.offset)
        for sentence in self.entity.complaints:
            self.miss(sentence)
        self.refuse(self.entity.refused)
        if home is None:
            self.miss(f"'{file.name}' lies in no folder '{FOLDER}' of a game: what it names can't be found")
        self.find_body(chosen)
        self.character.decl = self.worn(skin or self.entity.value("skin") or self.model_decl.skin)
        self.character.skin_name = "" if self.character.decl is None else self.character.decl.name
        self.own(ENTITY, chosen.entity)
        self.own(MODEL, chosen.model)
        self.character.motions, self.character.notes = self.motions_of(self.model_decl)
        self.find_head()
        self.find_attached()
        self.find_weapons()

    def own(self, kind: str, name: str) -> None:
        """Note what declares an entity or a model of a name, with what that inherits: it goes along with it."""
        known = self.character.declarations
        known += [each for each in self.decls.lineage(name, kind) if each not in known]

    def refuse(self, sentences: Iterable[str]) -> None:
        """Say for what the game refuses something, each once."""
        known = self.character.refused
        known += [each for each in dict.fromkeys(sentences) if each not in known]

    def declared(self, name: str) -> Model:
        """Return the model of a name; one that only has a mesh where the name is a file's; says what is wrong."""
        found = self.decls.model(name) if name else None
        if found is None:
            return Model(name, name if _is_mesh(name) else "")
        for sentence in found.complaints:
            self.miss(sentence)
        self.refuse(found.refused)
        return found

    def find_body(self, chosen: _Chosen) -> None:
        """Find the body: of a character without a declaration the file itself."""
        if self.model_decl.mesh:
            self.character.declared = self.model_decl.name, self.model_decl.mesh
            self.character.body = self.model(self.model_decl.mesh, "the body")
        elif self.character.file.suffix.lower() == MESH_SUFFIX:
            self.character.body = self.character.file
            self.miss(f"no model of the game's '{FOLDER}/*{SUFFIX}' has this mesh: what lies beside it is shown")
        elif chosen.model:
            self.miss(f"the model '{shown_name(chosen.model)}' is declared nowhere, or has no mesh")
        else:
            self.miss(f"'{chosen.name}' has no model")

    def worn(self, name: str) -> SkinDecl | None:
        """Return a skin's declaration; says so where there is none of that name."""
        if not name or fold(name) == "none":
            return None
        found = self.decls.skin(name)
        if found is None:
            self.miss(f"the skin '{shown_name(name)}' is declared nowhere: the game refuses the model")
            return None
        if found not in self.character.declarations:
            self.character.declarations.append(found)
        return parse_decl(found.body, found.name)

    def motions_of(self, model: Model) -> tuple[list[MotionFile], dict[str, dict[str, str]]]:
        """Return the files of a model's animations, each with the names of those that it is; and notes on these."""
        names: dict[GameFile, list[str]] = {}
        notes: dict[str, dict[str, str]] = {}
        lacking = []
        for anim in model.anims.values():
            for nth, name in enumerate(anim.files):
                file = self.find(name)
                called = anim.name if not nth else f"{anim.name}{IN_STEP}{nth + 1}"
                if file is None:
                    lacking.append(name)
                else:
                    names.setdefault(file, []).append(called)
                    notes[called] = _notes(anim)
        if lacking:
            lacking = list(dict.fromkeys(lacking))
            self.miss(f"files of frames of '{model.name}' are not there: {listed(lacking)}")
        motions = [MotionFile(file, (), tuple(called)) for file, called in names.items()]
        return motions, {name: note for name, note in notes.items() if note}

    @property
    def pose(self) -> GameFile | None:
        """Return the file in whose first frame things are put on the body."""
        anim = self.model_decl.anims.get(POSE)
        return None if anim is None else self.find(anim.files[0])

    def find_head(self) -> None:
        """Find the head, and the joint that it hangs on."""
        name, joint = self.entity.value(DEF_HEAD), self.entity.value(HEAD_JOINT)
        if not name:
            return
        if not joint:
            self.miss(f"'{self.entity.name}' has a head, but no {HEAD_JOINT}: the game stops there")
            return
        self.character.joints = {joint: Asked(HEAD_JOINT)}
        self.add(HEAD, joint, name, Placing(pose=self.pose))

    def find_attached(self) -> None:
        """Find what hangs on joints beside the head."""
        found = self.entity.starting(ATTACHED)
        if len(found) > MOST_PIECES:
            self.miss(f"'{self.entity.name}' has {len(found)} things attached: {MOST_PIECES} are shown")
        joints = dict(self.character.joints)
        for key, name in found[:MOST_PIECES]:
            entity = self.decls.entity(name)
            if entity is None:
                self.miss(f"{key} '{shown_name(name)}' is declared nowhere: the game stops there")
                continue
            joint = entity.value("joint")
            if not joint:
                self.miss(f"{key} '{shown_name(name)}' names no joint that it hangs on: the game stops there")
                continue
            joints[joint] = Asked(f"{key} '{shown_name(name)}'")
            origin, angles = _triple(entity.value("origin")), _triple(entity.value("angles"))
            self.add(key, joint, name, Placing(origin, angles, True, self.pose))
        self.character.joints = joints

    def find_weapons(self) -> None:
        """Find what a player can hold: the one that he has at first, and which others there are."""
        first = self.entity.value(CURRENT)
        choices: dict[str, Piece] = {}
        for key, name in self.entity.starting(WEAPON):
            entity = self.decls.entity(name)
            if entity is None:
                self.miss(f"{key} '{shown_name(name)}' is declared nowhere")
                continue
            joint, model = entity.value("joint_attach"), entity.value("model_world")
            if not (joint and model) or len(choices) == MOST_PIECES:
                continue  # nobody sees it held
            piece = self.piece(HELD, joint, model, Placing(turned=True))
            self.own(ENTITY, name)
            if piece is not None:
                choices[name] = piece
                first = name if key == f"{WEAPON}{first}" else first
        held = choices.get(first) or next(iter(choices.values()), None)
        self.character.choices = choices
        self.character.pieces += [] if held is None else [held]

    def add(self, kind: str, joint: str, name: str, placing: Placing) -> None:
        """Add a piece that hangs on a joint: a model, or an entity that looks like one."""
        piece = self.piece(kind, joint, name, placing)
        self.character.pieces += [] if piece is None else [piece]

    def piece(self, kind: str, joint: str, name: str, placing: Placing) -> Piece | None:
        """Return what hangs on a joint; says what is missing of it."""
        model, skin = self.looks(name)
        if model is None and fold(name).endswith(MODELS):
            model = Model(name, name)
        if model is None:
            self.miss(f"{kind} '{shown_name(name)}' is declared nowhere: the game stops there")
            return None
        if not model.mesh:
            self.miss(f"{kind} '{shown_name(name)}' has no model")
            return None
        file = self.model(model.mesh, f"{kind}'s model")
        if file is None:
            return None
        placing = replace(placing, moved=model.offset)
        motions, notes = self.motions_of(model)
        motions.sort(key=lambda motion: IDLE not in motion.names)
        decl = self.worn(skin or model.skin)
        return Piece(kind, BODY, joint, file, decl=decl, placing=placing, motions=tuple(motions), notes=notes)

    def looks(self, name: str) -> tuple[Model | None, str]:
        """Return what a model or an entity of a name looks like, and the skin that an entity wears."""
        if self.decls.find(name, MODEL) is not None:
            self.own(MODEL, name)
            return self.declared(name), ""
        entity = self.decls.entity(name)
        if entity is None:
            return None, ""
        model = entity.value("model")
        self.own(ENTITY, name)
        self.own(MODEL, model)
        found = self.declared(model)
        if not found.mesh and self.decls.find(model, MODEL) is None:
            found.mesh = model  # a file without bones
        return found, entity.value("skin")


def _notes(anim: Anim) -> dict[str, str]:
    """Return what the game does with an animation, as text."""
    commands = [f"{each.frame} {each.text}" for each in anim.commands]
    found = {FLAGS: ", ".join(anim.flags), COMMANDS: "\n".join(commands)}
    return {key: text for key, text in found.items() if text}


def _triple(text: str) -> tuple[float, float, float]:
    """Return three numbers of a value; those that are missing are 0."""
    found: Iterable[float] = [number(each[0]) for each in NUMBER.finditer(text)]
    x, y, z = [*found, 0.0, 0.0, 0.0][:3]
    return x, y, z
