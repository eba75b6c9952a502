"""What tests found before is compared, and kept anew only where that is asked for."""

import json
from types import SimpleNamespace

import pytest

from tests.kept import KEEP, Kept


def test_what_is_other_than_before_fails_until_it_is_kept(tmp_path, monkeypatch):
    module = SimpleNamespace(test_a=None)
    file = tmp_path / "test_x.json"

    def kept():
        return Kept(SimpleNamespace(module=module, name="test_a[1]", path=tmp_path / "test_x.py"))

    monkeypatch.delenv(KEEP, raising=False)
    file.write_text('{"test_gone": ["0"]}', encoding="utf-8")
    with pytest.raises(AssertionError):
        kept()(b"data")
    monkeypatch.setenv(KEEP, "1")
    both = kept()
    both(b"data")
    both(["größe", "two"])
    assert json.loads(file.read_text(encoding="utf-8")) == {"test_a[1]": ["3a6eb0790f39", ["größe", "two"]]}
    monkeypatch.delenv(KEEP)
    again = kept()
    again(b"data")
    with pytest.raises(AssertionError):
        again(["größe"])
    with pytest.raises(AssertionError):
        again(b"more than before")
