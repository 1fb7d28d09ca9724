#!/usr/bin/env python3
"""Golden tests of the program: what it prints, and with which exit code.

A test is an executable script tests/cli/SUITE/NAME.sh.  Beside it lie its expectations:
  NAME.exit                    the exit code; 0 when there is no such file
  NAME.stdout.exact, .stderr.exact   the whole output
  NAME.stdout.glob,  .stderr.glob    the same, where a line "..." stands for any lines and a "*"
                                     inside a line for any text
  NAME.stdout.ignore, .stderr.ignore empty files: anything goes
and no file at all means that nothing may be printed.  Exit code 77 skips a test.

Each test runs in an empty folder of its own, with `cuslim` in its PATH, and these variables:
  SAMPLE   the sample wheel        SOURCE  the root of the source tree
  CACHE    folder with real wheels (may not exist)
  FIXTURES folder with the files that tests/fixtures.c makes
A script SUITE/setup runs before each test of the suite, in the same folder.

The version and these folders are replaced by VERSION, $SOURCE, $FIXTURES and $SCRATCH before the
comparison.  Every JSON document with a "schema" is checked against docs/schema.  --bless
writes what was printed into the .exact files (and a .exit file) instead of comparing.

This suite is about the surface.  What the library computes is tested in tests/unit.
"""

import argparse
import concurrent.futures
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import schema

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
SKIP_CODE = 77
TIMEOUT_SECONDS = 300


class Case:
    def __init__(self, script):
        self.script = script
        self.name = f"{script.parent.name}/{script.stem}"

    def beside(self, suffix):
        return self.script.with_name(self.script.stem + suffix)

    def expected_exit(self):
        path = self.beside(".exit")
        return int(path.read_text()) if path.exists() else 0


def environment(options):
    keep = ("PATH", "HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TMPDIR")
    env = {k: os.environ[k] for k in keep if k in os.environ}
    cache = os.environ.get("CUSLIM_CACHE") or os.path.expanduser("~/.cache/cuslim")
    env.update(PATH=f"{options.program_folder}:{env.get('PATH', '')}", LC_ALL="C.UTF-8", CI="true",
               SOURCE=str(SOURCE), CACHE=cache, FIXTURES=options.fixtures)
    wheels = sorted((SOURCE / "examples" / "sample").glob("*.whl"))
    if wheels:
        env["SAMPLE"] = str(wheels[0])
    return env


def normalise(text, scratch, options):
    for path, name in ((scratch, "$SCRATCH"), (options.fixtures, "$FIXTURES"), (SOURCE, "$SOURCE")):
        text = text.replace(str(path), name)
    version = re.escape(options.version)
    text = re.sub(r'("version": ")' + version, r"\1VERSION", text)
    return re.sub(r"\bcuslim " + version, "cuslim VERSION", text)


def glob_matches(pattern, text):
    parts = ["(?:.*\n)*" if line == "..." else
             ".*".join(re.escape(p) for p in line.split("*")) + "\n"
             for line in pattern.splitlines()]
    return re.fullmatch("".join(parts), text) is not None


def diff(expected, actual, label):
    return "".join(difflib.unified_diff(expected.splitlines(True), actual.splitlines(True),
                                        f"{label} expected", f"{label} actual", n=2))


def stream_problem(case, stream, actual):
    if case.beside(f".{stream}.ignore").exists():
        return ""
    glob = case.beside(f".{stream}.glob")
    if glob.exists():
        expected = glob.read_text()
        return "" if glob_matches(expected, actual) else diff(expected, actual, f"{stream} (glob)")
    exact = case.beside(f".{stream}.exact")
    expected = exact.read_text() if exact.exists() else ""
    return "" if expected == actual else diff(expected, actual, stream)


def bless_stream(case, stream, actual):
    if any(case.beside(f".{stream}.{kind}").exists() for kind in ("ignore", "glob")):
        return
    exact = case.beside(f".{stream}.exact")
    if actual:
        exact.write_text(actual)
    else:
        exact.unlink(missing_ok=True)


def schema_problems(text):
    """Problems of the JSON document that the text is, if it is one with a "schema"."""
    if not text.startswith("{\n  \"schema\""):
        return []
    try:
        document = json.loads(text)
    except ValueError as error:
        return [f"stdout is no valid JSON: {error}"]
    match = re.fullmatch(r"cuslim\.([a-z-]+)/[0-9]+", str(document.get("schema")))
    if not match:
        return []
    path = SOURCE / "docs" / "schema" / f"{match.group(1)}.json"
    if not path.exists():
        return [f"there is no {path.relative_to(SOURCE)}"]
    return list(schema.problems(document, json.loads(path.read_text())))[:20]


def run_case(case, options):
    with tempfile.TemporaryDirectory(prefix="cuslim-cli-") as scratch:
        env = environment(options)
        setup = case.script.with_name("setup")
        if setup.exists():
            subprocess.run([setup], cwd=scratch, env=env, check=True, stdin=subprocess.DEVNULL,
                           timeout=TIMEOUT_SECONDS)
        done = subprocess.run([*options.prefix, case.script], cwd=scratch, env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=TIMEOUT_SECONDS)
        out, err = (normalise(b.decode("utf-8", "backslashreplace"), scratch, options)
                    for b in (done.stdout, done.stderr))
    if done.returncode == SKIP_CODE:
        return None, []
    problems = schema_problems(out)
    if options.bless:
        bless_stream(case, "stdout", out)
        bless_stream(case, "stderr", err)
        exit_file = case.beside(".exit")
        if done.returncode:
            exit_file.write_text(f"{done.returncode}\n")
        else:
            exit_file.unlink(missing_ok=True)
        return not problems, problems
    if done.returncode != case.expected_exit():
        problems.append(f"exit code {done.returncode}, expected {case.expected_exit()}")
    problems += [p for p in (stream_problem(case, "stdout", out),
                             stream_problem(case, "stderr", err)) if p]
    return not problems, problems


def guarded(case, options):
    try:
        return run_case(case, options)
    except (OSError, subprocess.SubprocessError, schema.SchemaError) as error:
        return False, [str(error)]


def stray_files(cases):
    """Expectations whose script is gone, and scripts that nobody would run."""
    known = {str(c.script.with_suffix("")) for c in cases}
    for path in sorted(HERE.glob("*/*")):
        stem = re.sub(r"\.(exit|stdout\.\w+|stderr\.\w+)$", "", str(path))
        if stem != str(path) and stem not in known:
            yield f"{path.relative_to(HERE)}: no such test"
        if path.suffix == ".sh" and not os.access(path, os.X_OK):
            yield f"{path.relative_to(HERE)}: not executable"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the cuslim to test")
    parser.add_argument("--fixtures", required=True, help="folder that tests/fixtures.c filled")
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--exec-prefix", default="", help="for example 'valgrind -q'")
    parser.add_argument("patterns", nargs="*", help="run tests whose name contains one of these")
    options = parser.parse_args()
    program = Path(options.program).resolve()
    options.program_folder = program.parent
    options.fixtures = str(Path(options.fixtures).resolve())
    options.prefix = options.exec_prefix.split()
    options.version = subprocess.run([program, "--version"], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout.split()[1]
    every = [Case(p) for p in sorted(HERE.glob("*/*.sh"))]
    cases = [c for c in every
             if not options.patterns or any(p in c.name for p in options.patterns)]
    counts = {True: 0, False: 0, None: 0}
    for problem in stray_files(every):
        counts[False] += 1
        print(f"FAIL {problem}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, (result, problems) in zip(cases, pool.map(lambda c: guarded(c, options), cases)):
            counts[result] += 1
            if result is False:
                print(f"FAIL {case.name}")
                for problem in problems:
                    print("\n".join("  " + line for line in problem.splitlines()))
            elif result is None:
                print(f"skip {case.name}")
    print(f"{counts[True]} passed, {counts[False]} failed, {counts[None]} skipped")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
