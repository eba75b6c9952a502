"""A plugin of pytest: which tests reach which lines, and later those tests alone, the quickest first.

`IDTECH_REACH` names the file of what is measured, `IDTECH_CHOSEN` that of the tests to run.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

REACH, CHOSEN = "IDTECH_REACH", "IDTECH_CHOSEN"
MEMORY = 8 << 30  # bytes that a mutant may ask for: counts that grew by mistake end in an error, not in the machine's


class Measuring:
    """Measure each test apart."""

    def __init__(self, file: Path) -> None:
        import coverage

        self.times: dict[str, float] = {}
        self.file = file
        self.coverage = coverage.Coverage(data_file=str(file), source=["io_idtech_models"], config_file=False)
        self.coverage.set_option("run:relative_files", True)  # the copy lies elsewhere the next time
        self.coverage.load()  # what other tests reach, measured before
        self.coverage.start()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Write down what a test reaches, with its fixtures, under its name."""
        self.coverage.switch_context(item.nodeid)
        yield
        self.coverage.switch_context("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep how long the tests took that pass as things are."""
        if report.when == "call" and report.passed:
            self.times[report.nodeid] = report.duration

    def pytest_sessionfinish(self) -> None:
        """Save what was measured."""
        self.coverage.stop()
        self.coverage.save()
        self.file.with_suffix(".times").write_text(json.dumps(self.times), encoding="utf-8")


class Choosing:
    """Run some tests in a given order."""

    def __init__(self, names: list[str]) -> None:
        self.order = {name: i for i, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out the others."""
        items[:] = sorted((item for item in items if item.nodeid in self.order), key=lambda i: self.order[i.nodeid])


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Measure from before the first `conftest.py`: what modules that it imports do by the way is reached as well."""
    if REACH in os.environ:
        early_config.pluginmanager.register(Measuring(Path(os.environ[REACH])))


def pytest_configure(config: pytest.Config) -> None:
    """Set up what the variables ask for."""
    if CHOSEN in os.environ:
        config.pluginmanager.register(Choosing(json.loads(Path(os.environ[CHOSEN]).read_text(encoding="utf-8"))))
        _limit_memory()
    try:
        from hypothesis import Phase, settings
    except ImportError:
        return
    # Always the same examples, and none made smaller: that one fails is enough.
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", max_examples=200, derandomize=True, database=None, phases=phases)
    settings.load_profile("mutants")


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has none
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
