"""Declarations that are made or changed: every other line stays as it is."""

import pytest

from io_idtech_models.game.character.doom3.edits import has_model, with_anims, with_blocks, with_skin
from io_idtech_models.reporting import LimitError

TEXT = """model a { inherit b }
// a comment { with a brace
model C\r
{
    mesh   models/x.md5mesh
    anim   idle    models/a.md5anim // the first
    anim   walk1   models/a.md5anim, models/b.md5anim { frame 1 sound x // {
    } // behind
}
entityDef d { "model" "c" }\n\0"""


def edited(name, anims, text=TEXT, inherits=""):
    return with_anims(text.encode("latin-1"), name, anims, inherits).decode("latin-1")


def lines(before, after):
    """Return the lines that went, and those that came."""
    old, new = before.split("\n"), after.split("\n")
    return [each for each in old if each not in new], [each for each in new if each not in old]


def test_a_file_of_frames_is_another_one():
    after = edited("c", {"idle": ["models/n.md5anim"], "walk1": ["models/a.md5anim", "models/b.md5anim"]})
    (old,), (new,) = lines(TEXT, after)
    assert old == "    anim   idle    models/a.md5anim // the first"
    assert new == old.replace("/a.", "/n.")
    anims = {"idle": ["models/a/longer/path.md5anim"], "walk1": ["n.md5anim"]}
    went, came = lines(TEXT, edited("c", anims))
    assert (len(went), len(came)) == (2, 2), "each in its own place, whatever is longer before it"
    assert came[0] == went[0].replace("models/a.md5anim", "models/a/longer/path.md5anim")
    assert came[1] == went[1].replace("models/a.md5anim, models/b.md5anim", "n.md5anim")


BLOCK = """model q {
	anim a a.md5anim // first
	anim b b.md5anim, c.md5anim { // two
		random_cycle_start
		frame 1	sound_body	x // thump
		frame 2	call	f /* so
		long */
	}	// behind
	anim c c.md5anim
}
"""
SOUNDS = BLOCK[BLOCK.index(" { // two") : BLOCK.index("	// behind")]


@pytest.mark.parametrize(
    ("anim", "lines", "was", "now"),
    [
        ("b", ["random_cycle_start", "frame 3 call g", "frame 1 sound_body x"], SOUNDS,
         " {\n\t\trandom_cycle_start\n\t\tframe 3 call g\n\t\tframe 1	sound_body	x // thump\n\t}"),
        ("b", [], SOUNDS, ""),
        ("b", ["frame 2 call f"], SOUNDS, " {\n\t\tframe 2	call	f\n\t}"),
        ("a", ["anim_turn"], "a.md5anim // first", "a.md5anim {\n\t\tanim_turn\n\t} // first"),
        ("c", [], "c", "c"),
        ("nothing", ["anim_turn"], "c", "c"),
    ],
)  # fmt: skip
def test_a_block_says_something_else(anim, lines, was, now):
    assert with_blocks(BLOCK.encode(), "Q", {anim: lines}).decode() == BLOCK.replace(was, now)


def test_blocks_say_something_else_each_in_its_place():
    lines = ["frame 1 call f", "frame 2 call g"]
    both = with_blocks(BLOCK.encode(), "q", {"a": lines, "b": [], "c": lines})
    one_by_one = BLOCK.encode()
    for anim, own in (("c", lines), ("b", list[str]()), ("a", lines)):
        one_by_one = with_blocks(one_by_one, "q", {anim: own})
    assert both == one_by_one


def test_what_can_not_stand_in_a_block_that_was_there():
    with pytest.raises(LimitError, match="can't stand in the block"):
        with_blocks(BLOCK.encode(), "q", {"b": ["frame 1 }"]})
    assert with_blocks(BLOCK.encode(), "other", {"b": ["anim_turn"]}) == BLOCK.encode()


WORN = """entityDef a { // "skin" "no"
	"skin"	"one"	"x" "skin" // so
	"Skin" "two"
}
entityDef b {
	"model" "q" // q
}
entitydef c {}
model skin {
	mesh a.md5mesh
	anim skin a.md5anim
}
model d { mesh a.md5mesh skin one anim a b.md5anim skin "t/w" }
"""


@pytest.mark.parametrize(
    ("kind", "name", "was", "now"),
    [
        ("entitydef", "A", '"Skin" "two"', '"Skin" "n/w"'),
        ("entitydef", "b", '"q" //', '"q"\n\t"skin"\t"n/w" //'),
        ("entitydef", "c", "c {}", 'c {\n\t"skin"\t"n/w"\n}'),
        ("model", "skin", "a.md5anim\n}", "a.md5anim\n\tskin n/w\n}"),
        ("model", "d", 'skin "t/w"', "skin n/w"),
        ("model", "a", "", ""),
    ],
)
def test_another_skin(kind, name, was, now):
    assert with_skin(WORN.encode(), kind, name, "n/w").decode() == WORN.replace(was, now)


def test_a_skin_that_can_not_be_named():
    with pytest.raises(LimitError, match="quote"):
        with_skin(WORN.encode(), "entitydef", "a", 'x"y')


def test_new_ones_come_behind_the_last_as_that_is_spelt():
    after = edited("c", {"jump": ["q/r-s.md5anim"], "fall": ["a b.md5anim", "c.md5anim"]})
    new = '    anim   jump   q/r-s.md5anim\r\n    anim   fall   "a b.md5anim", c.md5anim\r\n'
    assert after == TEXT.replace("    } // behind\n", f"    }} // behind\r\n{new}".removesuffix("\r\n") + "\n")


def test_a_model_without_animations():
    assert "{ inherit b\r\n\tanim idle n.md5anim\r\n }\n//" in edited("a", {"idle": ["n.md5anim"]})
    assert edited("q", {"idle": ["n.md5anim"]}, "model q{}") == "model q{\n\tanim idle n.md5anim\n}"
    text = "model q {\n\tmesh a.md5mesh // x\n}\n"
    assert edited("q", {"it": ["n.md5anim"]}, text) == text.replace("// x\n", "// x\n\tanim it n.md5anim\n")


def test_statements_behind_the_last_animation_stay_behind():
    text = "model q {\n\tmesh a.md5mesh\n\tanim it b.md5anim\n\tchannel torso ( x )\n}\n"
    after = text.replace("b.md5anim\n", "b.md5anim\n\tanim on n.md5anim\n")
    assert edited("q", {"on": ["n.md5anim"]}, text) == after


def test_a_new_model_comes_at_the_end_before_a_nul():
    after = edited("new", {"idle": ["n.md5anim"]}, inherits="C")
    model = "\r\nmodel new\r\n{\r\n\tinherit C\r\n\tanim idle n.md5anim\r\n}\r\n"
    assert after == TEXT.removesuffix("\0") + model + "\0"
    assert has_model(after.encode("latin-1"), "NEW")
    assert not has_model(TEXT.encode("latin-1"), "new")


def test_a_file_of_its_own():
    assert edited("new", {"idle": ["n.md5anim"]}, "", "c") == "model new\n{\n\tinherit c\n\tanim idle n.md5anim\n}\n"


def test_nothing_to_change_gives_the_same_bytes():
    assert edited("c", {"idle": ["models/a.md5anim"]}) == TEXT
    assert edited("c", {}) == TEXT


@pytest.mark.parametrize(
    ("anims", "text", "message"),
    [
        ({"two words": ["a"]}, "", "can't be the name of an animation"),
        ({"a1": ["a"]}, "", "can't be the name of an animation"),
        ({"an": []}, "", "has 0 files"),
        ({"an": list("abcd")}, "", "has 4 files: a game takes 1 to 3"),
        ({"an": ['x"y']}, "", "has a quote or a line end"),
        ({"an": ["x"]}, "{", "are not closed"),
        ({"an": ["x"]}, "model m { offset ( 1 }", "are not closed"),
        ({"an": ["x"]}, "model m { }\nentityDef a {", "are not closed"),
        ({"an": ["x"]}, "model m { anim a b inherit n }", "the model 'm' says 'inherit' behind animations"),
    ],
)
def test_what_can_not_be_written(anims, text, message):
    with pytest.raises(LimitError, match=message):
        edited("m", anims, text)


def test_letters_that_the_file_lacks():
    with pytest.raises(LimitError, match="it can't hold 'Ω'"):
        with_anims(b"// \xff\n", "m", {"an": ["Ω.md5anim"]})
