"""Real `.mtr` files: every declaration is found, and its pictures are those that its text names."""

import re

import pytest

from io_idtech_models.game.shaders.library import DOOM3, ShaderLibrary
from io_idtech_models.game.shaders.model import BUMP, DIFFUSE, MATERIAL, NONE, SPECULAR
from io_idtech_models.game.shaders.shader_looks import drawn_stages
from tests.samples import CORPUS

REAL = [pytest.param(path, id=path.name) for path in sorted(CORPUS.rglob("*.mtr"))]
ROLES = {"diffusemap": DIFFUSE, "bumpmap": BUMP, "normalmap": BUMP, "specularmap": SPECULAR}


def library_of(*paths):
    return ShaderLibrary([(f"materials/{path.name}", path.read_bytes) for path in paths], DOOM3)


def declarations(text):
    """Return the names and bodies of a text, by nothing but its braces."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    found, depth, start, head = [], 0, 0, 0
    for match in re.finditer(r"[{}]", text):
        depth += 1 if match[0] == "{" else -1
        if depth == 1 and match[0] == "{":
            start = match.end()
            names = text[head : match.start()].split()
        elif depth == 0:
            found.append((names, text[start : match.start()]))
            head = match.end()
    return found


@pytest.mark.parametrize("path", REAL)
def test_every_declaration_is_found_with_its_pictures(path):
    text = path.read_bytes().decode("latin-1").replace("\0", " ").replace("\r", "")
    library = library_of(path)
    wanted = {
        names[-1]: body for names, body in reversed(declarations(text)) if names and names[0] in {"material", names[-1]}
    }
    assert wanted or path.stem == "tables"
    assert set(map(str.lower, wanted)) <= set(map(str.lower, library.names(MATERIAL)))
    for name, body in wanted.items():
        shader = library.shader(name)
        assert shader is not None, name
        simple = re.findall(r"^\s*(diffusemap|bumpmap|normalmap|specularmap)[ \t]+([^\s(]+)[ \t]*$", body, re.I | re.M)
        roles = [(stage.role, stage.maps[0]) for stage in shader.stages if stage.role and stage.maps]
        assert {(ROLES[word.lower()], picture) for word, picture in simple} <= set(roles), name
        if re.search(r"\btwosided\b", body, re.IGNORECASE):
            assert shader.cull == NONE
        drawn_stages(shader)


@pytest.mark.skipif(not REAL, reason="no corpus")
def test_materials_of_real_models_are_known():
    folder = next(CORPUS.rglob("tdm/materials"))
    library = library_of(*sorted(folder.glob("*.mtr")))
    ivy = library.shader("textures/darkmod/decals/vegetation/ivy_mixed_pieces")
    assert ivy is not None
    assert (ivy.cull, [stage.maps[0] for stage in ivy.stages]) == (NONE, ["_white"])
