"""What `info` and `check` say of every sample: the same as before."""

import json
from collections import defaultdict

import pytest

from io_idtech_models.formats import ROWS, SKELETAL, by_name
from tests.small_files import SAMPLES

EVERY = [(name, called) for name, files in SAMPLES.items() for called in files]


@pytest.mark.parametrize(("name", "called"), EVERY)
def test_what_is_said_of_a_sample_is_what_was(name, called, as_before):
    """Of each sentence there is which games are meant; formats are those that have no place for something."""
    row = by_name(name)
    asset = row.unpack(row.read(SAMPLES[name][called]), "a name")
    content, by_sentence = asset.content, defaultdict(list)
    for game in row.games:
        problems = row.check(content, game)
        problems += [problem for motion in asset.animations[:2] for problem in row.check_motion(motion, game)]
        for problem in problems:
            by_sentence[str(problem)].append(game)
    for sentence in row.problems(content):
        by_sentence[sentence].append("problem")
    for other in ROWS if row.family is SKELETAL else ():
        for sentence in other.lost(content):
            by_sentence[sentence].append(other.name)
    facts = json.loads(json.dumps(row.family.facts(content)), parse_float=lambda text: f"{float(text):.4g}")
    as_before([
        row.family.describe(content),
        *(f"{key}: {json.dumps(value)}" for key, value in facts.items()),
        *(f"{', '.join(games)}: {sentence}" for sentence, games in by_sentence.items()),
    ])  # fmt: skip
