"""build.py without a network and without Blender: choices, messages, stamps, counts."""

import ast
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.packs import put_files
from tests.shares import others_share
from tools import checks, children, environments, libraries, main, package, pythons, report
from tools.common import PROJECT, BuildError, MissingPythonError, either

DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n'
MINT = 'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_ID="21"\n'
ERROR = "ImportError: libXi.so.6: cannot open shared object file: No such file or directory"


def library(name):
    return next(library for library in libraries.LIBRARIES if library.name == name)


def environment(tmp_path, monkeypatch, requirements=("one==1.*", "two")):
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    made = environments.Environment("thing", "a thing", ((3, 11), (3, 13)), requirements, 1)
    made.python.parent.mkdir(parents=True)
    made.python.touch()
    return made


def fake_python(path: Path, answer: str, status: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{answer}'\nexit {status}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


# -- what an old Python can read


@pytest.mark.parametrize(
    "path", [PROJECT / "build.py", *sorted((PROJECT / "tools").glob("*.py"))], ids=lambda p: p.name
)
def test_old_pythons_can_read_the_build_scripts(path):
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))


def test_build_scripts_use_the_standard_library_only():
    for path in (PROJECT / "tools").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names.append(node.module or "")
            assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names, path.name


# -- interpreters


def test_running_python_is_asked_first():
    assert next(pythons.candidates(pythons.running_version(), {})) == (sys.executable,)


@pytest.mark.skipif(sys.platform == "win32", reason="fakes interpreters by shell scripts")
def test_shim_that_does_not_work_is_passed_over(tmp_path):
    shim = fake_python(tmp_path / "shims" / "python3.99", "pyenv: python3.99: command not found", 127)
    real = fake_python(tmp_path / "pyenv" / "versions" / "3.99.2" / "bin" / "python", '["/real", [3, 99], true]')
    environ = {"PATH": str(shim.parent), "PYENV_ROOT": str(tmp_path / "pyenv"), "HOME": str(tmp_path)}
    assert list(pythons.candidates((3, 99), environ)) == [(str(shim),), (str(real),)]
    assert pythons.find([(3, 98), (3, 99)], environ) == pythons.Interpreter("/real", (3, 99), True)


@pytest.mark.skipif(sys.platform == "win32", reason="fakes interpreters by shell scripts")
def test_python_without_ensurepip_is_taken_for_nothing_but_a_hint(tmp_path):
    fake_python(tmp_path / "python3.99", '["/debian", [3, 99], false]')
    with pytest.raises(BuildError, match=r"apt-get install python3\.99-venv"):
        pythons.find([(3, 99)], {"PATH": str(tmp_path), "HOME": str(tmp_path)})


def test_missing_python_is_named(tmp_path):
    with pytest.raises(MissingPythonError, match=r"Python 3\.98 or 3\.99 was not found"):
        pythons.find([(3, 98), (3, 99)], {"PATH": str(tmp_path), "HOME": str(tmp_path)})


def test_pyenv_offers_the_newest_release_and_no_variants(tmp_path):
    for name in ("3.13.2", "3.13.10", "3.13.1t", "3.13-dev", "3.1.3"):
        (tmp_path / "versions" / name).mkdir(parents=True)
    found = pythons.pyenv_versions((3, 13), {"PYENV_ROOT": str(tmp_path), "HOME": str(tmp_path)})
    assert [path.parent.parent.name for path in found] == ["3.13.10", "3.13.2"]


@pytest.mark.parametrize(("python", "name"), [((3, 11), "bpy-4.5"), ((3, 13), "bpy-5.2")])
def test_running_python_decides_which_bpy(monkeypatch, python, name):
    monkeypatch.setattr(pythons, "running_version", lambda: python)
    assert environments.for_conversion().name == name


def test_ready_environment_serves_a_python_without_bpy(monkeypatch, capsys):
    monkeypatch.setattr(pythons, "running_version", lambda: (3, 12))
    monkeypatch.setattr(environments.Environment, "has", lambda self, _layer: self.name == "bpy-5.2")
    assert environments.for_conversion().name == "bpy-5.2"
    assert capsys.readouterr().err == "There is no bpy for Python 3.12: using bpy 5.2 with Python 3.13.\n"


def test_unsupported_python_is_told_what_to_install(monkeypatch):
    def nothing(_versions):
        raise MissingPythonError

    monkeypatch.setattr(pythons, "running_version", lambda: (3, 12))
    monkeypatch.setattr(pythons, "find", nothing)
    monkeypatch.setattr(environments.Environment, "has", lambda _self, _layer: False)
    said = r"no bpy wheel for Python 3\.12 .* no Python 3\.11 or 3\.13 .* --blender PATH"
    with pytest.raises(BuildError, match=said):
        environments.for_conversion()


def test_the_fuzzer_runs_with_the_numpy_of_each_blender_at_hand(monkeypatch, capsys):
    def only_one(versions):
        if versions != ((3, 13),):
            raise MissingPythonError("no such Python")

    def run(command):
        commands.append(command)
        return len(commands) % 2

    commands: list[list[str]] = []
    monkeypatch.setattr(pythons, "find", lambda _versions: None)
    monkeypatch.setattr(environments, "prepare", lambda environment: "/".join(environment.requirements))

    monkeypatch.setattr(children, "run", run)
    assert children.run_fuzzer(["--minutes", "2"]) == 1
    assert [command[0].split("/")[0] for command in commands] == ["numpy==1.24.*", "numpy==1.26.*", "numpy>=2.2,<2.5"]
    assert [command[-3:] for command in commands] == [[f"fuzz-{b}", "--minutes", "2"] for b in ("4.2", "4.5", "5.2")]
    monkeypatch.setattr(pythons, "find", only_one)
    assert [each.name for each in environments.for_fuzzing()] == ["fuzz-5.2"]
    assert "Not with the numpy of Blender 4.2: no such Python" in capsys.readouterr().err


def test_pythons_are_called_otherwise_on_windows():
    assert pythons.names((3, 11), "posix") == ["python3.11", "python3"]
    assert pythons.names((3, 11), "nt") == ["python3.11.exe", "python3.exe", "python.exe"]


# -- environments


def test_stamp_says_that_a_layer_is_ready(tmp_path, monkeypatch):
    made = environment(tmp_path, monkeypatch)
    assert not made.has("runtime")
    made.stamp("runtime", "3.11")
    assert made.has("runtime")
    assert not made.has("tests")
    changed = environments.Environment(made.name, made.title, made.pythons, ("one==2.*", "two"), 1)
    assert not changed.has("runtime"), "of other requirements it is stale"
    made.python.unlink()
    assert not made.has("runtime"), "its Python is gone"
    made.python.touch()
    for text in ("", "3.12\none==1.*\ntwo\n", "3.11\none==1.*\n"):
        (made.folder / "ready-runtime").write_text(text, encoding="utf-8")
        assert not made.has("runtime"), "cut, or of another Python"


def test_failed_installation_leaves_no_stamp_and_the_end_of_pips_output(tmp_path, monkeypatch):
    made = environment(tmp_path, monkeypatch)
    made.stamp("runtime", "3.11")
    monkeypatch.setattr(environments, "run_pip", lambda *_: (1, "ERROR: No space left on device"))
    with pytest.raises(BuildError, match=r"could not install pytest(.|\n)*    ERROR: No space left"):
        environments.make_layer(made, "tests")
    assert not made.has("tests")


def test_bpy_that_left_pypi_is_looked_for_in_blenders_archive(monkeypatch):
    calls = []

    def run_pip(_environment, _requirements, *options):
        calls.append(options)
        return (0, "") if options else (1, "ERROR: No matching distribution found for bpy==4.2.*")

    monkeypatch.setattr(environments, "run_pip", run_pip)
    environments.install(environments.BLENDERS["4.2"], ("bpy==4.2.*",))
    assert calls == [(), ("--extra-index-url", environments.BLENDER_ARCHIVE)]


def test_second_process_waits_for_the_lock(tmp_path):
    with (tmp_path / "lock").open("w", encoding="utf-8") as one, (tmp_path / "lock").open("w", encoding="utf-8") as two:
        assert environments.try_lock(one)
        assert not environments.try_lock(two)
        one.close()
        assert environments.try_lock(two)


def test_type_stubs_of_bpy_never_meet_bpy():
    assert not any(requirement.startswith("bpy") for requirement in environments.LINT.requirements)
    for made in environments.EVERY_BLENDER.values():
        assert not any("fake" in requirement for requirement in made.requirements)


# -- system libraries


def test_library_is_read_from_the_import_error():
    assert libraries.named_in(ERROR) == "libXi.so.6"
    assert libraries.named_in("ImportError: No module named 'bpy'") is None


@pytest.mark.parametrize(
    ("os_release", "family"),
    [
        (DEBIAN, "debian"),
        (MINT, "debian"),
        ("ID=fedora\n", "fedora"),
        ("ID='rocky'\nID_LIKE='rhel centos fedora'\n", "fedora"),
        ("ID=endeavouros\nID_LIKE=arch\n", "arch"),
        ("ID=alpine\n", None),
        ("", None),
    ],
)
def test_distribution_is_known_by_itself_or_its_parents(os_release, family):
    assert libraries.family(os_release) == family


def test_advice_names_the_libraries_and_the_one_command_or_all_where_the_system_is_unknown():
    lacking = [library("libXi.so.6"), library("libSM.so.6")]
    assert libraries.advice(ERROR, lacking, DEBIAN) == (
        "Blender needs system libraries that are missing here: libXi.so.6, libSM.so.6.\n"
        "Install them (as root): apt-get install libxi6 libsm6"
    )
    text = libraries.advice(ERROR, lacking[:1], "ID=gentoo\n") or ""
    assert [line.strip() for line in text.splitlines()[1:]] == [
        "Debian or Ubuntu: apt-get install libxi6", "Fedora: dnf install libXi", "Arch: pacman -S libxi",
    ]  # fmt: skip
    assert libraries.advice("ImportError: numpy", [], DEBIAN) is None, "of anything else there is none"


def test_packages_are_named_once():
    lacking = [library("libGL.so.1"), library("libEGL.so.1")]
    assert libraries.packages(lacking, "arch") == ["libglvnd", "mesa"]
    assert libraries.packages(lacking, "debian") == ["libgl1", "libegl1", "libgl1-mesa-dri"]


# -- commands


def test_conversion_runs_where_bpy_is_and_the_rest_without():
    wanted = ["-P", "-m", "io_idtech_models.ui.cli", "convert", "a b", "c"]
    assert children.python_command("py", "convert", ["a b", "c"])[1:] == wanted
    assert children.python_command("py", "info", ["a"])[1:] == ["-P", "-m", "io_idtech_models", "info", "a"]


def test_code_for_blender_keeps_odd_file_names():
    arguments = ["convert", 'it\'s "a" \\ name.md3', "b.glb"]
    call = ast.parse(children.package_expression(arguments)).body[-1]
    assert isinstance(call, ast.Expr)
    assert ast.literal_eval(call.value.args[0].args[0]) == arguments  # type: ignore[attr-defined]


def test_blender_is_found_as_file_folder_and_application(tmp_path):
    put_files(tmp_path, {"Contents/MacOS/Blender": b""})
    assert children.find_blender(str(tmp_path)).endswith("Blender")
    (tmp_path / "blender").touch()
    assert children.find_blender(str(tmp_path)) == str(tmp_path / "blender")
    assert children.find_blender(str(tmp_path / "blender")) == str(tmp_path / "blender")
    with pytest.raises(BuildError, match="no such program"):
        children.find_blender(str(tmp_path / "no"))


def test_option_is_taken_from_anywhere_before_the_dashes():
    arguments = ["convert", "--blender", "b", "x", "--", "--blender", "c"]
    assert main.take_option(arguments, "--blender") == "b"
    assert arguments == ["convert", "x", "--", "--blender", "c"]
    assert main.take_option(arguments, "--blender") is None
    assert main.take_option(["--blender=b"], "--blender") == "b"
    with pytest.raises(BuildError, match="--blender needs a value"):
        main.take_option(["convert", "--blender"], "--blender")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["frobnicate"], "there is no command 'frobnicate'"),
        (["zip", "--blender", "b"], "zip does not know --blender"),
        (["test", "--fast"], "test does not know --fast"),
        (["test", "--versions", "3.6"], "the versions are 4.2, 4.3, 4.4, 4.5, 5.0, 5.1, 5.2"),
        (["test", "--only", "lint"], "The steps are ruff, mypy, workflows, docs, unit, bpy-4.2, bpy-4.5, bpy-5.2, "),
    ],
)
def test_wrong_command_line_gives_one_sentence(capsys, arguments, message):
    assert main.main(arguments) == 1
    assert message in capsys.readouterr().err


def test_help_is_given_at_once():
    command = [sys.executable, str(PROJECT / "build.py"), "--help"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (result.stdout, result.stderr) == (main.HELP, "")


# -- the checks


def test_other_systems_run_the_two_commands_of_the_readme():
    text = (PROJECT / "README.md").read_text(encoding="utf-8").partition("## Try it")[2].partition("\n## ")[0]
    commands = [line.strip() for line in text.splitlines() if line.startswith("    python3 build.py")]
    workflow = (PROJECT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert len(commands) == 2
    assert [line.split("run: ")[1] for line in workflow.splitlines() if "run: python3" in line] == commands
    assert all(system in workflow for system in ("ubuntu-", "windows-", "macos-"))


def test_pytest_arguments_that_name_tests_replace_the_steps_own():
    options = checks.Options(pytest=("-k", "stamp", "tests/test_build.py::test_stamp_says_that_a_layer_is_ready"))
    assert options.chosen_paths == ["tests/test_build.py::test_stamp_says_that_a_layer_is_ready"]


def test_installed_blender_takes_the_place_of_the_matrix():
    names = [step.name for step in checks.steps(checks.Options(blender="b"))]
    assert names == ["ruff", "mypy", "workflows", "docs", "unit", "blender", "zip"]


def test_tests_are_counted_from_the_report(tmp_path):
    path = tmp_path / "report.xml"
    path.write_bytes(b'<testsuites><testsuite tests="9" failures="1" errors="2" skipped="3"/></testsuites>')
    assert report.read_junit(path) == report.Counts(passed=3, failed=3, skipped=3)
    assert report.read_junit(tmp_path / "never written") == report.Counts()


def test_crash_and_empty_run_are_failures():
    crash = report.Outcome.of(139, "", report.Counts())
    assert (crash.result, crash.counts) == (report.FAILED, report.Counts(failed=1))
    crash_at_exit = report.Outcome.of(139, "", report.Counts(passed=5))
    assert (crash_at_exit.result, crash_at_exit.counts) == (report.FAILED, report.Counts(passed=5, failed=1))
    assert report.Outcome.of(0, "", report.Counts()).result == report.FAILED
    assert report.Outcome.of(0, "", report.Counts(passed=1)).result == report.PASSED


def outcomes(left_out=False, passed=2):
    counts = report.Counts(passed, skipped=passed // 2)
    results = {"unit": report.Outcome(report.PASSED, counts=counts), "mypy": report.Outcome(report.PASSED)}
    if left_out:
        results["bpy-5.2"] = report.Outcome(report.LEFT_OUT, "Python 3.13 was not found")
    return results


@pytest.mark.parametrize(
    ("results", "strict", "status"),
    [
        (outcomes(), True, 0),
        (outcomes(left_out=True), False, 0),
        (outcomes(left_out=True), True, 1),
        (outcomes(passed=0), False, 1),
        ({**outcomes(), "ruff": report.Outcome(report.FAILED)}, False, 1),
    ],
)
def test_summary_ends_with_the_counts_and_decides_the_status(capsys, results, strict, status):
    assert report.summarise(results, tests_expected=True, strict=strict) == status
    last = capsys.readouterr().out.splitlines()[-1]
    assert last in ("2 passed, 0 failed, 1 skipped", "0 passed, 0 failed, 0 skipped")


def test_missing_python_leaves_a_step_out_and_other_trouble_fails_it():
    def missing():
        raise MissingPythonError("no Python")

    def trouble():
        raise BuildError("no library")

    assert report.timed(missing).result == report.LEFT_OUT
    assert report.timed(trouble).result == report.FAILED


def test_remarks_are_pytests_summary():
    output = "$ pytest\ndots\n=== short test summary info ===\nSKIPPED [1] x.py: why\n=== 1 skipped ===\n"
    assert report.remarks(output).splitlines()[1:] == ["SKIPPED [1] x.py: why", "=== 1 skipped ==="]
    assert report.remarks("All checks passed!\n") == ""


# -- the extension


def test_version_comes_from_the_manifest():
    text = 'schema_version = "1.0.0"\nversion = "2.3.4"\nblender_version_min = "4.2.0"\n'
    assert package.manifest_version(text) == "2.3.4"
    assert package.manifest_version().count(".") == 2
    with pytest.raises(BuildError, match="states no version"):
        package.manifest_version('schema_version = "1.0.0"\n')


def test_extension_has_its_manifest_at_the_top_and_no_caches(tmp_path, monkeypatch):
    put_files(tmp_path, dict.fromkeys(("blender_manifest.toml", "LICENSE", "tests/test_x.py"), b""))
    own = ("__init__.py", "formats/md3.py", "formats/__pycache__/md3.pyc", "tests/test_y.py", ".hidden")
    put_files(tmp_path / "io_idtech_models", dict.fromkeys(own, b""))
    monkeypatch.setattr(package, "PROJECT", tmp_path)
    monkeypatch.setattr(package, "MANIFEST", tmp_path / "blender_manifest.toml")
    package.stage(tmp_path / "staged")
    files = {path.relative_to(tmp_path / "staged").as_posix() for path in (tmp_path / "staged").rglob("*")}
    assert files == {"blender_manifest.toml", "LICENSE", "__init__.py", "formats", "formats/md3.py"}


def test_a_zip_is_packed_without_blender_and_always_the_same(tmp_path):
    folder = tmp_path / "source"
    put_files(folder, {name: name.encode() for name in ("b.py", "a/c.py", "a/__init__.py")})
    package.pack(folder, tmp_path / "one.zip")
    os.utime(folder / "b.py", (1, 1))
    (folder / "b.py").chmod(0o600)
    package.pack(folder, tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert package.contents(tmp_path / "one.zip") == {n: n.encode() for n in ("a/__init__.py", "a/c.py", "b.py")}


def test_choices_read_as_a_sentence():
    assert [either(["a"]), either(["a", "b"]), either(["a", "b", "c"])] == ["a", "a or b", "a, b or c"]


# -- what runs with several Blenders share


@dataclass(frozen=True)
class Case:
    """A collected test, as far as sharing looks at it."""

    originalname: str
    nodeid: str
    path: str = "test_a.py"
    name: str = ""
    mark: str = ""

    def get_closest_marker(self, name):
        return self.mark == name


def cases(counts: dict[str, int], mark: str = "") -> list[Case]:
    """Return what pytest collects of tests with so many cases each."""
    return [Case(name, f"test_a.py::{name}[{i}]", mark=mark) for name, count in counts.items() for i in range(count)]


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_runs_share_cases_and_the_tests_of_few(runs):
    collected = cases({"many": 40, **{f"two of {i}": 2 for i in range(10)}, **{f"one of {i}": 1 for i in range(20)}})
    kept = [[c for c in collected if c not in others_share(collected, nth, runs)] for nth in range(runs)]
    assert sorted(c.nodeid for own in kept for c in own) == sorted(c.nodeid for c in collected)
    for own in kept:
        assert len([c for c in own if c.originalname == "many"]) in {40 // runs, -(-40 // runs)}
        assert all(len([c for c in own if c.originalname == f"two of {i}"]) <= max(1, 2 // runs) for i in range(10))
        assert len([c for c in own if c.originalname.startswith("one")]) >= 10 // runs


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_what_is_marked_so_one_run_has(runs):
    single = cases({"long": 1, "slow": 20}, "once")
    kept = [[c for c in single if c not in others_share(single, nth, runs)] for nth in range(runs)]
    assert sorted(c.nodeid for own in kept for c in own) == sorted(c.nodeid for c in single)
    assert all(kept)
