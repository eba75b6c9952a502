"""All declarations of a game of Doom 3's kin: which of several counts, and what one has with all that it inherits.

Facts (idDeclManagerLocal of dhewm3): of each of the folders `materials`, `skins` and `def`, in this order, all files
are read sorted by name, and the first definition of a name counts. What is declared where is free: a `.def` may declare
skins. A declaration that inherits itself finds what has been read of it until then; here it finds nothing, and that is
told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from ...lexer import decl_key, fold, shown_name
from ...shaders.library import DOOM3, SKIN, Definition, ShaderLibrary, library_of
from ...store import GameFile, Store
from . import FOLDER, SUFFIX
from .declarations import ENTITY, INHERIT, MODEL, Body, Model, read_entity, read_model

MOST_INHERITED = 50  # declarations above each other, and above one entity; the games' have 10
# What was read of a library that is kept, which is as long as none of its files changes.
_kept: WeakKeyDictionary[ShaderLibrary, Declarations] = WeakKeyDictionary()
READERS: dict[str, Callable[[str, int], Body]] = {MODEL: read_model, ENTITY: read_entity}


@dataclass
class Entity:
    """An entity with all that it inherits: its keys in lower case, those of its own first."""

    name: str
    file: str = ""
    values: dict[str, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)  # what it inherits and is not there
    refused: list[str] = field(default_factory=list)  # for which the game drops a declaration

    def value(self, key: str) -> str:
        """Return the value of a key, which is given in lower case; "" where it has none."""
        return self.values.get(key, "")

    def starting(self, prefix: str) -> list[tuple[str, str]]:
        """Return the keys that begin so, with their values, but for those without a value."""
        return [(key, value) for key, value in self.values.items() if key.startswith(prefix) and value]


class Declarations:
    """What the `.def`, `.skin` and `.mtr` files of a game declare."""

    def __init__(self, scripts: ShaderLibrary, skins: Sequence[ShaderLibrary] = ()) -> None:
        self.scripts = scripts
        self.skins = (*skins, scripts)  # where skins are looked for, one after another
        self._found: dict[tuple[str, str], Definition | None] = {}
        self._bodies: dict[tuple[str, str], Body] = {}
        self._own: dict[str, dict[str, str]] = {}

    def find(self, name: str, kind: str) -> Definition | None:
        """Return the definition of a name that counts."""
        key = kind, decl_key(name)
        if key not in self._found:
            self._found[key] = self.scripts.find(name, kind)
        return self._found[key]

    def names(self, kind: str) -> list[str]:
        """Return all names of a kind, as they are spelt."""
        return self.scripts.names(kind)

    def names_of(self, file: str, kind: str) -> list[str]:
        """Return the names of a kind whose definitions that count are in a file ("def/imp.def", in lower case)."""
        found = ((name, self.find(name, kind)) for name in self.names(kind))
        return [name for name, each in found if each is not None and each.file.lower() == file]

    def skin(self, name: str) -> Definition | None:
        """Return the definition of a skin."""
        return self.material(name, SKIN)

    def material(self, name: str, kind: str = "") -> Definition | None:
        """Return the definition of a material, or of what else is declared among these."""
        found = (library.find(name, kind) for library in self.skins)
        return next((each for each in found if each is not None), None)

    def lineage(self, name: str, kind: str) -> list[Definition]:
        """Return the definition of an entity or a model, behind all that it inherits; none where there is none."""
        first = self.find(name, kind) if name else None
        if first is None:
            return []
        if kind == MODEL:
            return [found for found, _ in reversed(self._chain(name)[0])]
        return [found for found, _ in self._lineage(first, [])][::-1]

    def body(self, found: Definition) -> Body:
        """Return what a definition says."""
        key = (found.kind, decl_key(found.name))
        if key not in self._bodies:
            self._bodies[key] = READERS[found.kind](found.body, found.body_line)
        return self._bodies[key]

    def model(self, name: str) -> Model | None:
        """Return a model with all that it inherits; None where there is no such declaration."""
        chain, complaints = self._chain(name)
        if not chain:
            return None
        model = Model(chain[0][0].name, complaints=complaints)
        for found, first in reversed(chain):
            body = self.body(found)
            model.refused += [*found.faults, *(f"'{found.file}', {each}" for each in body.complaints)]
            model.apply(body.statements[first:], found.file)
        return model

    def mesh_of(self, name: str) -> str:
        """Return the mesh that a model has, its own or inherited; "" for none."""
        for found, first in self._chain(name)[0]:
            meshes = [each.values[0] for each in self.body(found).statements[first:] if each.word == "mesh"]
            if meshes:
                return meshes[-1]
        return ""

    def _chain(self, name: str) -> tuple[list[tuple[Definition, int]], list[str]]:
        """Return a model's definition and those that it inherits, each with its first statement that counts.

        `inherit` replaces all that was said before it (CopyDecl).
        """
        chain: list[tuple[Definition, int]] = []
        complaints: list[str] = []
        seen: set[str] = set()
        found = self.find(name, MODEL)
        while found is not None:
            seen.add(decl_key(found.name))
            parent, first = None, 0
            for nth, each in enumerate(self.body(found).statements):
                if each.word != INHERIT:
                    continue
                wanted = self.find(each.values[0], MODEL)
                where = f"'{found.file}', line {each.line}: '{shown_name(found.name)}' inherits"
                if wanted is None:
                    complaints.append(f"{where} '{shown_name(each.values[0])}', which is not there")
                elif decl_key(wanted.name) in seen:
                    complaints.append(f"{where} '{shown_name(each.values[0])}', which is in a circle: left out")
                elif len(chain) == MOST_INHERITED:
                    complaints.append(f"{where} over more than {MOST_INHERITED} others: the rest is left out")
                else:
                    parent, first = wanted, nth + 1
            chain.append((found, first))
            found = parent
        return chain, complaints

    def entity(self, name: str) -> Entity | None:
        """Return an entity with all that it inherits; None where there is no such declaration.

        Its own keys count before those that it inherits, and the first parent's before the next one's.
        """
        first = self.find(name, ENTITY)
        if first is None:
            return None
        entity = Entity(first.name, first.file)
        for found, pairs in self._lineage(first, entity.complaints):
            entity.refused += [*found.faults, *(f"'{found.file}', {each}" for each in self.body(found).complaints)]
            for key, value in pairs.items():
                if not key.startswith(INHERIT):
                    entity.values.setdefault(key, value)
        return entity

    def value_of(self, name: str, key: str) -> str:
        """Return the value that an entity has, its own or inherited; "" where it has none."""
        first = self.find(name, ENTITY)
        lineage: Iterable[tuple[Definition, dict[str, str]]] = () if first is None else self._lineage(first, [])
        return next((pairs[key] for _, pairs in lineage if key in pairs), "")

    def _pairs(self, found: Definition) -> dict[str, str]:
        """Return an entity's own keys, in lower case, with their values."""
        key = decl_key(found.name)
        if key not in self._own:
            self._own[key] = {fold(name): value for name, value in self.body(found).pairs}
        return self._own[key]

    def _lineage(self, first: Definition, complaints: list[str]) -> Iterator[tuple[Definition, dict[str, str]]]:
        """Yield an entity and those that it inherits in the order in which their keys count; none comes twice."""
        seen: set[str] = set()
        on_way: list[str] = []  # from the first to the one at hand
        waiting: list[tuple[Definition, int]] = [(first, 0)]  # with how many are on the way to it
        while waiting:
            found, depth = waiting.pop()
            key = decl_key(found.name)
            if key in seen:
                continue
            if len(seen) == MOST_INHERITED:
                complaints.append(
                    f"'{shown_name(first.name)}' inherits more than {MOST_INHERITED}: the rest is left out"
                )
                return
            seen.add(key)
            on_way[depth:] = [key]
            pairs = self._pairs(found)
            yield found, pairs
            for name in reversed([value for each, value in pairs.items() if each.startswith(INHERIT) and value]):
                parent = self.find(name, ENTITY)
                where = f"'{found.file}', line {found.line}: '{shown_name(found.name)}' inherits '{shown_name(name)}'"
                if parent is None:
                    complaints.append(f"{where}, which is not there")
                elif decl_key(parent.name) in on_way:
                    complaints.append(f"{where}, which is in a circle: left out")
                else:
                    waiting.append((parent, depth + 1))

    def models_of(self, is_mesh: Callable[[str], bool]) -> list[str]:
        """Return the models that have a mesh, as `is_mesh` tells of its name; those of their own first."""
        own: list[str] = []
        others: list[str] = []
        for name in self.names(MODEL):
            mesh = self.mesh_of(name)
            if mesh and is_mesh(mesh):
                found = self.find(name, MODEL)
                has_own = found is not None and any(each.word == "mesh" for each in self.body(found).statements)
                (own if has_own else others).append(name)
        return own + others

    def entities_of(self, models: Iterable[str]) -> list[tuple[str, str]]:
        """Return the entities that look like one of several models, with these, in order of the models."""
        wanted = {decl_key(name): nth for nth, name in enumerate(models)}
        found = []
        for nth, name in enumerate(self.names(ENTITY)):
            model = self.value_of(name, "model")
            if model and decl_key(model) in wanted:
                found.append((wanted[decl_key(model)], nth, name, model))
        return [(name, model) for _, _, name, model in sorted(found)]


def declarations_of(game: Store | None, others: Iterable[Store] = (), first: GameFile | None = None) -> Declarations:
    """Return the declarations of a game, else of others; a file that is none of the game's is read among its own."""
    games = [store for store in (game, *others) if store is not None]
    scripts = _files(games, FOLDER, SUFFIX)
    if first is not None and first not in scripts:
        scripts = [first, *scripts]
    skins = [
        library_of(folder, _files(games, folder, suffix), DOOM3)
        for folder, suffix in (("materials", ".mtr"), ("skins", ".skin"))
    ]
    library = library_of(FOLDER, scripts, DOOM3)
    known = _kept.get(library)
    if known is None or known.skins != (*skins, library):
        known = _kept[library] = Declarations(library, skins)
    return known


def _files(games: Iterable[Store], folder: str, suffix: str) -> list[GameFile]:
    """Return the files of a kind right below a folder of the first game that has any; none comes twice by its name."""
    for game in games:
        found = [
            file
            for store in game.below([folder])
            for below, file in store.walk()
            if not below and file.suffix.lower() == suffix
        ]
        if found:
            return found
    return []
