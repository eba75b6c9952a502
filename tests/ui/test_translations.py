"""The window speaks its other languages whole: all that it shows has a text, and no text has lost what it is of."""

import ast
import string
from types import SimpleNamespace
from typing import Any

import pytest

from io_idtech_models.blender import properties
from io_idtech_models.formats.format import ENGINES
from io_idtech_models.tasks.animations.find import OF_HEAD
from io_idtech_models.tasks.animations.kept import OF_FILES
from io_idtech_models.tasks.animations.players import PlayerAnimations
from io_idtech_models.tasks.animations.rigs import NO_ORDER
from io_idtech_models.tasks.animations.vertex import OF_TABLE, VertexAnimations
from io_idtech_models.tasks.export.last_export import IN_ARCHIVE, NO_FILE, NONE_ACTIVE
from io_idtech_models.tasks.panel.player import PLAYING
from io_idtech_models.tasks.trial import NO_PROGRAM
from io_idtech_models.ui import menus as files
from io_idtech_models.ui import registration, translations
from io_idtech_models.ui.import_ import model_list
from io_idtech_models.ui.panel import header, main, model
from tests.samples import PROJECT
from tests.ui.scene import bpy
from tests.ui.test_labels import operator_of, structures

ROOM = 24  # letters of an option's name that the file dialog has room for, about
BLENDERS = frozenset({"bl_options", "check_existing"})  # Blender's own
# Of properties that Blender's own classes have, in one version or another.
UNIQUE = "Unique name used in the code and scripting"
BASE = {f"{UNIQUE}, can be re-defined in Python sub-classes if needed", UNIQUE, "Text", "XXX todo"}
OF_PANELS = "Override for the panel label in the UI"
DRAWING = {"draw_group": 3, "say": 0, "draw_fact": 1}  # functions, and which argument they draw
KEYWORDS = frozenset({"text", "title", "confirm_text"})


def is_word(text):
    return any(letter.isalpha() for letter in text)


def shown_properties():
    """Yield the properties of all classes that a user sees: ours, and of operators what they inherit."""
    declared = {
        name for cls in registration._classes for base in cls.__mro__ for name in vars(base).get("__annotations__", ())
    }
    for structure in structures():
        for prop in structure.properties:
            ours = prop.identifier in declared and prop.identifier not in BLENDERS and prop.description != OF_PANELS
            if ours and not prop.is_hidden and (prop.name != prop.identifier or prop.description):
                yield prop


def of_classes():
    """Yield names and descriptions of classes, of their options, and of the choices of these."""
    for cls in registration._classes:
        yield getattr(cls, "bl_label", "")
        if not issubclass(cls, bpy.types.Operator):
            yield getattr(cls, "bl_description", "")
        else:
            yield operator_of(cls).description
    for prop in shown_properties():
        yield prop.name
        yield prop.description
        for item in prop.enum_items if prop.type == "ENUM" else ():
            yield item.name
            yield item.description


def literals(node):
    """Return the texts that an expression may be: a literal, or one of two."""
    ends = (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node,)
    return [end.value for end in ends if isinstance(end, ast.Constant) and isinstance(end.value, str)]


def of_source():
    """Yield the texts that code draws."""
    for path in (PROJECT / "io_idtech_models/ui").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in KEYWORDS:
                yield from literals(node.value)
            place = DRAWING.get(getattr(node.func, "id", ""), -1) if isinstance(node, ast.Call) else -1
            if isinstance(node, ast.Call) and place >= 0:
                yield from literals(node.args[place])


def of_tables():
    """Yield the texts that code takes from tables of its own."""
    for table in (header.LABELS, model.KINDS, properties.SAID, model_list.TITLES, model_list.COUNTS):
        yield from table.values()
    for engine in ENGINES:
        yield engine
        yield from (label for way in ("import", "export") for _, label in files.entries(way, engine))
    yield from (*PLAYING.values(), main.CLICKS, NONE_ACTIVE, IN_ARCHIVE, NO_FILE, NO_PROGRAM)
    yield from (VertexAnimations.why, PlayerAnimations.why, OF_TABLE, NO_ORDER, OF_FILES, OF_HEAD)
    yield from ("Model", "Armature", "Bone", "Surface", "Animation", "Shader", "By Skin", "Picture")  # of the panel


@pytest.fixture(scope="module")
def shown():
    """Return all that the window shows in words."""
    return {text for source in (of_classes, of_source, of_tables) for text in source() if is_word(text)} - BASE


FILES = sorted(set(translations.LANGUAGES.values()))


def test_every_file_is_a_languages():
    folder = PROJECT / "io_idtech_models/ui/translations"
    assert sorted(path.stem for path in folder.glob("*.json")) == FILES


@pytest.mark.parametrize("language", FILES)
def test_a_language_is_whole_and_names_of_options_are_short(shown, language):
    found = translations.read(language)
    texts, same = found["texts"], found["same"]
    assert same == sorted(set(same))
    assert not sorted(shown - set(texts) - set(same))
    assert not sorted((set(texts) | set(same)) - shown)
    names = {p.name for p in shown_properties() if p.type != "ENUM"} & set(texts)
    assert not {name: texts[name] for name in names if len(texts[name]) > max(ROOM, len(name) + 4)}


def fields(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("language", FILES)
def test_texts_are_written_as_blender_writes_them(language):
    texts = translations.read(language)["texts"]
    assert list(texts) == sorted(texts), "where to look for one"
    for msgid, text in texts.items():
        assert fields(text) == fields(msgid)
        assert text.strip() == text
        assert text
        assert text.endswith("...") == msgid.endswith("...")
        assert text.endswith("...") or not text.endswith(".")


def test_blender_gets_the_texts_of_its_language_and_loses_them(monkeypatch):
    held: dict[str, Any] = {}
    handlers = SimpleNamespace(translation_update_post=[], persistent=lambda function: function)
    spoken = SimpleNamespace(register=held.__setitem__, unregister=held.__delitem__, locale="en_US")
    monkeypatch.setattr(translations, "_translations", spoken)
    monkeypatch.setattr(translations, "_handlers", handlers)
    monkeypatch.setattr(translations, "_given", {"package": "", "language": ""})
    translations.register("a")
    assert not held, "who speaks English waits for no table"
    spoken.locale = "de"
    for update in (*handlers.translation_update_post, *handlers.translation_update_post):
        update()
    for context in ("*", "Operator", translations.CONTEXT):
        for language in ("de", "de_DE"):
            assert held["a"][language][context, "Weld Seams"] == "Nähte schweißen"
    translations.unregister()
    assert not held
    assert not handlers.translation_update_post


def test_a_text_with_values():
    assert translations.say("Models of {place}", place="pak0.pk3") == "Models of pak0.pk3"
