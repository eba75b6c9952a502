"""What the extensions platform asks of an extension, as far as a machine can tell.

Its manifest is looked at in `tests/test_release.py`; that nothing is printed is a rule of ruff's (T20).
"""

import json
import subprocess
import sys

from tests.samples import PROJECT


def test_a_session_touches_what_the_user_chose_alone(tmp_path):
    command = [sys.executable, "-B", "-m", "tests.ui.session", str(tmp_path)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["asked"] == []  # neither a network nor another program
    assert found["outside"] == []
    assert found["inside"] >= 2  # each model, and the temporary file that becomes it
    assert found["clean"] == [True, True]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.md3", "two.md3"]
    assert (tmp_path / "one.md3").read_bytes() == (tmp_path / "two.md3").read_bytes()
