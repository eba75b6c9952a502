"""Tags that a model came with: which of them are called otherwise by now, and which are gone."""

import pytest

from io_idtech_models.formats import by_name
from io_idtech_models.model.limits.games import NO_GAME
from io_idtech_models.model.limits.tags import alike_tags, gone_tags
from tests.samples import load, sample

RENAMED = "'{}' was '{}' in its file, the name by which games hang models on it: rename it back"
GONE = "the model lacks tags on which games hang models by their names, add empties called so: {}"


def said(model, *asked, besides=()):
    return [str(problem) for problem in gone_tags(model, asked, besides)]


@pytest.fixture(params=["md3", "mdm"])
def model(request):
    given = sample("figure", "mdm") if request.param == "mdm" else sample("animated", "md3")
    found = load(given)
    assert len(found.tags) >= 2
    return found


def test_those_that_are_there_say_nothing(model):
    assert said(model, "tag_other") == [], "what its game asks for it never had"
    model.tags.reverse()
    assert said(model) == []


def test_a_renamed_one(model):
    was, model.tags[1].name = model.tags[1].name, "tag_hat"
    assert said(model) == [RENAMED.format("tag_hat", was)]
    assert said(model, besides=[was]) == []


def test_a_deleted_one(model):
    lost = model.tags.pop(0).name
    assert said(model) == [GONE.format(f"'{lost}'")]
    other = model.tags[0].name
    model.tags[0].source_index, model.tags[0].name = -1, lost  # a new one, in whose place another is gone
    assert said(model) == [GONE.format(f"'{other}'")]


def test_names_are_compared_letter_by_letter(model):
    was, model.tags[0].name = model.tags[0].name, model.tags[0].name.upper()
    assert said(model) == [RENAMED.format(was.upper(), was)]
    source = model.source
    if hasattr(source, "tags"):
        source.tags[0].name = was.upper()
    else:
        source.tag_names[0] = was.upper()
    model.tags[0].name = was
    assert said(model) == [], "that mends it"


def test_what_never_was_in_a_file_is_asked_for(model):
    model.source = None
    assert said(model, model.tags[0].name) == []
    assert said(model, "tag_torso") == [GONE.format("'tag_torso'")]


def test_tags_that_are_called_alike_are_named_but_for_those_of_the_file(model):
    assert not list(alike_tags(model))
    first, second = model.tags[:2]
    second.name = first.name
    said = f"'{first.name}' is the name of 2 tags, of which games take the first: rename the others"
    assert [str(problem) for problem in alike_tags(model)] == [said]
    assert said in [str(problem) for problem in by_name(model.source.format).check(model, NO_GAME)]
    names = getattr(model.source, "tag_names", None)
    if names is None:
        model.source.tags[1].name = first.name
    else:
        names[1] = first.name
    assert not list(alike_tags(model))
    model.source = None
    assert [str(problem) for problem in alike_tags(model)] == [said]
