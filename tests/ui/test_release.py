"""A release as users get it: from a repository on a web server, and the next version after it."""

import json
import os
import subprocess
import sys

import pytest

from tests.samples import PROJECT


@pytest.mark.once
def test_the_repository_installs_and_updates(tmp_path):
    environ = os.environ | {"PYTHONPATH": str(PROJECT), "BLENDER_USER_RESOURCES": str(tmp_path / "user")}
    command = [sys.executable, "-P", "-m", "tests.ui.update", str(tmp_path / "repository"), "1.0.0", "1.0.1"]
    done = subprocess.run(command, env=environ, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [
        {"version": version, "enabled": True, "objects": 5} for version in ("1.0.0", "1.0.1")
    ]
