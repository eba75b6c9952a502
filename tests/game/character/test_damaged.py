"""Characters with one file gone, or one line or word of their texts: what is found of them, and what is said."""

import pytest

from io_idtech_models.game.character.kinds import character_of, names_in
from tests import samples_character, samples_doom3, samples_quake2, samples_wolf, samples_xreal
from tests.damaged import damaged, outcomes
from tests.stores import held

CHARACTERS = {
    "et": (samples_character.CHAR, samples_character.files),
    "doom3": (samples_doom3.DEF, samples_doom3.files),
    "rtcw": ("models/players/boss/wolfanim.cfg", samples_wolf.files),
    "xreal": ("models/players/newt/character.cfg", samples_xreal.files),
    "quake2": ("players/stilt/tris.md2", samples_quake2.files),
}
TEXTS = {"char", "anim", "aninc", "skin", "def", "mtr", "cfg"}


def changes(files):
    """Yield what is changed of files by their names, and the files so changed."""
    yield "nothing", files
    for name, data in files.items():
        short = name.rpartition("/")[2]
        yield f"{short}: gone", {other: files[other] for other in files if other != name}
        if short.rpartition(".")[2] in TEXTS:
            yield from ((f"{short} {what}", files | {name: changed}) for what, changed in damaged(data))


@pytest.mark.parametrize("game", CHARACTERS)
def test_what_is_found_of_a_damaged_character_is_what_was(game, as_before):
    path, files = CHARACTERS[game]

    def read(changed):
        file = held(changed, path)
        return [character_of(file, name=name) for name in names_in(file)]

    def complaints(found):
        return [sentence for each in found for sentence in (*each.missing, *each.refused)]

    for found in outcomes(changes(files()), read, complaints):
        as_before(found)
