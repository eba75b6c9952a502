"""Look for inputs that break a promise: `python3 build.py fuzz [--minutes N] [--format F] [--seed S] [--jobs N]`.

Each format is fuzzed for some minutes by worker processes (see `fuzz.worker`), guided by which branches inputs reach.
What they find is tried again in a clean process with the true limits, made smaller, and kept in a folder. Inputs that
reached new code stay in another, from which the next run goes on. `build.py` runs this with the numpy of each Blender
whose Python is at hand, each in a folder of its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from fuzz.lines import Lines
from fuzz.mutate import KINDS
from fuzz.seeds import SMALL, seeds
from fuzz.trials import Trials, minimised
from fuzz.worker import MOST_BYTES

PROJECT = Path(__file__).resolve().parent.parent
WORKER = PROJECT / "fuzz" / "worker.py"
HANG = 20  # seconds after which libFuzzer ends a worker
MOST_TRIES = 600  # to make one finding smaller
# Memory is given back when it is freed, and threads map none: else limits would mean little.
QUIET = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "131072", "OPENBLAS_NUM_THREADS": "1"}


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="build.py fuzz", description="Look for files that break a promise.")
    parser.add_argument("--minutes", type=float, default=1.0, metavar="N", help="for each format (1)")
    parser.add_argument("--format", choices=KINDS, action="append", metavar="F", help=f"one of {', '.join(KINDS)}")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the mutations (1)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes for each format (1)")
    parser.add_argument("--folder", type=Path, default=PROJECT / ".fuzz", help="of inputs and findings (.fuzz)")
    parser.add_argument("--under", default="", help=argparse.SUPPRESS)  # the folder in that one
    parser.add_argument("--coverage", action="store_true", help="only count the lines that the kept inputs reach")
    options = parser.parse_args()
    if options.minutes <= 0 or options.jobs < 1:
        parser.error("--minutes and --jobs are more than 0")
    options.folder /= options.under
    return options


def main() -> int:
    """Fuzz, print what came of it, and return the exit status: 1 where a promise is broken."""
    options = arguments()
    kinds = options.format or KINDS
    found = 0
    for kind in kinds if not options.coverage else ():
        folder = options.folder / kind.replace("+", "-")
        for name in ("inputs", "findings"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for data in seeds(kind):
            if len(data) > SMALL:
                continue
            (folder / "inputs" / hashlib.sha1(data).hexdigest()).write_bytes(data)
        found += run_kind(kind, folder, options)
    lines = Lines(PROJECT / "io_idtech_models")
    lines.run({kind: options.folder / kind.replace("+", "-") / "inputs" for kind in kinds})
    print("\n".join(lines.table()))
    return 1 if found else 0


def run_kind(kind: str, folder: Path, options: argparse.Namespace) -> int:
    """Fuzz one format, print what came of it, and return how many promises were broken."""
    for old in (*folder.glob("count-*"), *(folder / "findings").glob("*")):
        old.unlink()
    start = time.monotonic()
    end = start + options.minutes * 60
    run_workers(kind, folder, end, options)
    minutes = (time.monotonic() - start) / 60
    counts = [[int(word) for word in path.read_text(encoding="ascii").split()] for path in folder.glob("count-*")]
    tried, read = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    print(f"{kind}: {tried} inputs, {tried / minutes:.0f} a minute, {read} were read", flush=True)
    return judged(kind, folder)


def run_workers(kind: str, folder: Path, end: float, options: argparse.Namespace) -> None:
    """Keep as many workers running as were asked for, until the time is over."""
    workers: list[subprocess.Popen[bytes]] = []
    started = 0
    try:
        while (left := end - time.monotonic()) > 1:
            workers = [worker for worker in workers if worker.poll() is None]
            while len(workers) < options.jobs:
                workers.append(start_worker(kind, folder, left, options.seed + started))
                started += 1
            time.sleep(min(0.5, left))
        for worker in workers:
            worker.wait(HANG)
    except subprocess.TimeoutExpired:
        pass
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def start_worker(kind: str, folder: Path, seconds: float, seed: int) -> subprocess.Popen[bytes]:
    """Start a process that tries inputs for some seconds."""
    options = [
        str(folder / "inputs"), f"-max_total_time={max(int(seconds), 1)}", f"-max_len={MOST_BYTES}", f"-seed={seed}",
        f"-timeout={HANG}", "-rss_limit_mb=0", f"-artifact_prefix={folder / 'findings'}/", "-verbosity=0",
        "-print_final_stats=0", "-reload=5", "-len_control=0", "-mutate_depth=1",
    ]  # fmt: skip
    log = (folder / "log.txt").open("ab")
    with log:
        return subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", str(WORKER), "fuzz", kind, str(folder), *options],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **QUIET},
        )  # fmt: skip


def judged(kind: str, folder: Path) -> int:
    """Try what workers found in a clean process, make it smaller, print it, and return how many are true."""
    tester = Trials([sys.executable, "-P", "-W", "ignore", str(WORKER), "serve"], {**os.environ, **QUIET})
    table: dict[str, str] = {}
    try:
        for path in sorted((folder / "findings").glob("*")):
            data = path.read_bytes()
            path.unlink()
            name, text = tester.result(kind, data)
            if not name or name in table:
                continue
            small = minimised(data, partial(tester.fails_so, kind, name), MOST_TRIES)
            kept = folder / "findings" / f"{len(table):02d}.{kind}"
            kept.write_bytes(small)
            table[name] = text
            print(f"  {kept}: {len(small)} bytes: {text}", flush=True)
    finally:
        tester.close()
    (folder / "findings.json").write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
    return len(table)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main())
