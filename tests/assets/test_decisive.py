"""What a processor's arithmetic could decide, here with this one's: the same as before, whoever computes it."""

import hashlib

import pytest

from tests import decisive


@pytest.mark.parametrize("part", decisive.PARTS, ids=lambda part: part.__name__)
def test_what_is_written_of_our_models_is_what_was(part, tmp_path, monkeypatch, as_before):
    monkeypatch.setattr(decisive, "CORPUS", tmp_path / "none")  # which is not everywhere
    as_before([f"{name}: {hashlib.sha256(data).hexdigest()[:12]}" for name, data in part().items()])
