"""Which of several definitions counts, and when scripts are read."""

import zipfile
from functools import partial

import pytest

from io_idtech_models.game.lexer import decl_key
from io_idtech_models.game.shaders.library import DOOM3, ShaderLibrary, shader_key
from io_idtech_models.reporting import ModelError, collected_warnings
from tests.game.packs import PACKS
from tests.stores import held


def script(*names, cull="none"):
    return "".join(f"{name}\n{{\ncull {cull}\n{{\nmap x\n}}\n}}\n" for name in names).encode()


def library(*files, **options):
    """Return a library of (name, bytes), those of the highest priority first, and the names of what was read."""
    read = []

    def reader(name, data):
        def look():
            read.append(name)
            return data

        return look

    return ShaderLibrary([(name, reader(name, data)) for name, data in files], **options), read


def test_the_file_that_is_listed_last_counts():
    """ScanAndLoadShaderFiles joins in reverse: the pack with the lower priority."""
    found, _ = library(("scripts/a.shader", script("x/y", "only/a")), ("scripts/b.shader", script("X/Y", cull="back")))
    assert (found.shader("x/y").file, found.shader("x/y").cull) == ("scripts/b.shader", "back")
    assert found.shader("only/a").file == "scripts/a.shader"
    assert found.shader("nothing") is None


def test_inside_a_file_the_first_counts():
    found, _ = library(("a", script("x", cull="back") + script("x")))
    assert (found.shader("x").cull, found.shader("x").line) == ("back", 1)


def test_of_two_files_of_one_name_the_first_is_read():
    """A pack's file hides the one of the same name in a pack of lower priority."""
    found, _ = library(("scripts/a.shader", script("x", cull="back")), ("Scripts/A.shader", script("x", "y")))
    assert found.shader("x").cull == "back"
    assert found.shader("y") is None


def test_names_are_looked_up_without_extension():
    """R_FindShader; a script's own name is not cut."""
    found, _ = library(("a", script("models/a.b", "models/c", "d.tga")))
    assert found.shader("models/C.tga") is found.shader("models/c")
    assert found.shader("models/a.b.tga").name == "models/a.b"
    assert found.shader("models/a.b") is None
    assert found.shader("d.tga") is None
    assert shader_key("Models/A.B.tga") == "models/a.b"


def test_scripts_are_read_when_a_name_is_asked_for_and_as_far_as_it_takes():
    found, read = library(("a", script("x")), ("b", script("y")), ("c", script("z")))
    assert read == []
    assert found.shader("y")
    assert read == ["c", "b"]
    assert found.shader("y") is found.shader("Y.tga")
    assert found.find("nothing") is None
    assert read == ["c", "b", "a"]
    assert found.names() == ["z", "y", "x"]
    assert read == ["c", "b", "a"]


def test_what_is_near_counts_first():
    near = [held({"scripts/a.shader": script("x", cull="back")}, "scripts/a.shader")]
    far = held({"scripts/b.shader": script("x", "y")}, "scripts/b.shader")
    files = [("scripts/a.shader", near[0]), ("scripts/b.shader", far)]

    def scripts(near=None):
        found = ShaderLibrary(files, near=near)
        return [definition and definition.file for definition in map(found.find, ("x", "y"))]

    assert scripts() == ["scripts/b.shader", "scripts/b.shader"]
    assert scripts(lambda source: source in near) == ["scripts/a.shader", "scripts/b.shader"]


def test_doom_3_reads_files_by_name_and_the_first_counts():
    """idDeclFile::LoadAndParse."""
    files = [("materials/b.mtr", b"m/x { twosided }"), ("materials/A.mtr", b"M\\X.tga { backsided } m/x { twosided }")]
    found, _ = library(*files, rules=DOOM3)
    assert (found.shader("m/X.jpg").cull, found.shader("m/x").file) == ("back", "materials/A.mtr")
    assert decl_key("A\\b.c/d.e") == "a/b.c/d", "MakeNameCanonical"
    assert decl_key("a.b/c") == "a"


def test_kinds_of_declarations():
    found, _ = library(("a.mtr", b"table t { { 1 } }\nmaterial t { twosided }\nparticle p { }"), rules=DOOM3)
    assert found.find("t", "table").body.split() == ["{", "1", "}"]
    assert found.shader("t").two_sided
    assert found.shader("p") is None
    assert found.names() == ["t"]


def test_a_script_that_cannot_be_read_is_said():
    def broken():
        raise ModelError("no such file")

    with collected_warnings() as warnings:
        found = ShaderLibrary([("scripts/a.shader", broken), ("scripts/b.shader", lambda: script("x"))])
        assert found.names() == ["x"]
    assert warnings == ["'scripts/a.shader' can't be read: no such file"]


def test_faults_name_the_place():
    found, _ = library(("scripts/a.shader", b"// x\n\na/a {\n{ map x }\nb/b\n{\n{ map y }\n}\n"))
    assert found.shader("a/a").faults == ("scripts/a.shader, line 3: 'a/a': its closing brace is missing",)
    assert (found.shader("b/b").faults, found.shader("b/b").line) == ((), 5)


def test_odd_bytes():
    found, _ = library(("a", "ä/ö { cull none }".encode("latin-1")), ("b", "\ufeffé { cull none }".encode()))
    assert found.names() == ["é", "ä/ö"]


@pytest.mark.skipif(not PACKS.is_dir(), reason="no real packs here")
def test_a_real_game():
    """The patches' files hide those of the same name; no name is lost but those with an extension, as in the game."""
    files = []
    for path in sorted(PACKS.glob("*.pk3"), reverse=True):
        with zipfile.ZipFile(path) as pack:
            names = [name for name in pack.namelist() if name.endswith(".shader")]
            files += [(name, partial(bytes, pack.read(name))) for name in names]
    found = ShaderLibrary(files)
    lost = [name for name in found.names() if found.shader(name) is None]
    assert len(found.names()) > 1500
    assert all("." in name for name in lost)
    patched = found.shader("models/players/penguin/penguin")
    assert patched is None or patched.stages
