"""Characters with one file gone, or one line or word of their texts: what is found of them, and what is said."""

from collections import defaultdict

import pytest

from io_idtech_models.game.character.kinds import character_of, names_in
from io_idtech_models.reporting import ModelError, collected_warnings
from tests import samples_character, samples_doom3, samples_quake2, samples_wolf, samples_xreal
from tests.damaged import damaged, digest, kind_of
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
        yield f"{short} gone", {other: files[other] for other in files if other != name}
        if short.rpartition(".")[2] in TEXTS:
            yield from ((f"{short} {what}", files | {name: changed}) for what, changed in damaged(data))


@pytest.mark.parametrize("game", CHARACTERS)
def test_what_is_found_of_a_damaged_character_is_what_was(game, as_before):
    """All outcomes of changes of one line are one digest; of each kind of sentence one is kept."""
    path, files = CHARACTERS[game]
    by_line, sentences = defaultdict(list), dict[str, str]()
    for what, changed in changes(files()):
        try:
            with collected_warnings() as said:
                file = held(changed, path)
                found = [character_of(file, name=name) for name in names_in(file)]
            said = [*said, *(sentence for each in found for sentence in (*each.missing, *each.refused))]
        except ModelError as error:
            found, said = [], [str(error)]
        by_line[what.partition(":")[0].removesuffix(" gone")].append([digest(found), said])
        sentences |= {kind_of(sentence): sentence for sentence in said}
    as_before([f"{line}: {digest(found)}" for line, found in by_line.items()])
    as_before([sentences[kind] for kind in sorted(sentences)])
