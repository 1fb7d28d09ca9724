#!/usr/bin/env python3
"""Tests of what the documentation says: manual pages, completions, help and the examples in texts.

An example is a block of Markdown fenced as ```console.  Its lines "$ COMMAND" are run, in a scratch
folder that holds a link to examples/ and one to each real wheel of the cache; the lines below are
the expected output, where "..." alone stands for any lines.  A block that names a wheel which the
cache does not have is skipped.  --bless rewrites the blocks that hold no "...".
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests" / "cli"))
import run as cli  # noqa: E402  (the golden tests' notion of "..." is used here too)

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
WHEEL = re.compile(r"(?<![\w./*-])[\w.+-]+\.whl\b")  # in the folder itself
# scdoc's own habit; mandoc skips these macros, and nothing is lost.
HARMLESS = re.compile(r"skipping paragraph macro: (PP empty|PP after SH|PP after SS)")


class Skip(Exception):
    pass


def run(command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **more)
    return done.returncode, done.stdout


def need(tool):
    if not shutil.which(tool):
        raise Skip(f"{tool} is not installed")


# --- manual pages and completions ----------------------------------------------------------------

def manual_pages(options):
    need("scdoc")
    need("mandoc")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([SOURCE / "tools" / "gen-man", options.program, folder], check=True)
        for source in sorted(Path(folder).glob("*.scd")):
            page = source.with_suffix("")
            with open(source) as text, open(page, "w") as out:
                done = subprocess.run(["scdoc"], stdin=text, stdout=out, stderr=subprocess.PIPE,
                                      text=True)
            if done.returncode:
                yield f"{source.name}: {done.stderr.strip()}"
                continue
            _, output = run(["mandoc", "-T", "lint", "-W", "warning", page.name], cwd=folder)
            yield from (line for line in output.splitlines() if not HARMLESS.search(line))


# words typed so far, the last one being completed -> what must, and what must not, be offered
BASH_CASES = [
    (["cuslim", "expl"], ["explain"], ["size"]),
    (["cuslim", "size", "--no-wh"], ["--no-wheel-bytes"], ["--wheel-bytes"]),
    (["cuslim", "explain", "--form"], ["--format"], ["--by"]),
    (["cuslim", "explain", "--format", "=", "ma"], ["markdown"], ["text"]),
    (["cuslim", "explain", "--color", "n"], ["never"], ["always"]),
    (["cuslim", "explain", "exam"], ["examples"], []),
]
BASH_SCRIPT = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cuslim 2>&1; ' \
              'printf "%s\\n" "${COMPREPLY[@]}"'


def completions(options):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([SOURCE / "tools" / "gen-completions", options.program, folder], check=True)
        script = Path(folder) / "cuslim.bash"
        code, output = run(["bash", "-n", script])
        if code or output:
            yield output
        for words, wanted, unwanted in BASH_CASES:
            _, output = run(["bash", "-c", BASH_SCRIPT, "bash", script, *words], cwd=SOURCE)
            offered = output.split("\n")
            if not set(wanted) <= set(offered) or set(unwanted) & set(offered):
                yield f"bash: {' '.join(words)}: offered {offered}"
        for shell, name in (("zsh", "_cuslim"), ("fish", "cuslim.fish")):
            if shutil.which(shell):
                code, output = run([shell, "-n", Path(folder) / name])
                if code or output:
                    yield f"{shell}: {output}"


# --- examples ------------------------------------------------------------------------------------

def prepare(folder, options):
    (folder / "examples").symlink_to(SOURCE / "examples")
    wheels = Path(options.cache) / "wheels"
    for wheel in wheels.glob("*.whl") if wheels.is_dir() else ():
        (folder / wheel.name).symlink_to(wheel)


class Step:
    """One command of a block: as written, as run, and what it should print."""

    def __init__(self, line):
        self.written, self.command, self.expected = line + "\n", line[2:], ""

    def add(self, line):
        if self.command.endswith("\\") and not self.expected:
            self.written += line + "\n"
            self.command = self.command[:-1].rstrip() + " " + line.strip()
        else:
            self.expected += line + "\n"


def steps_of(block):
    steps = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append(Step(line))
        elif steps:
            steps[-1].add(line)
    return steps


def run_example(command, folder, options):
    env = dict(os.environ, PATH=f"{options.program.parent}:{os.environ['PATH']}", LC_ALL="C.UTF-8",
               CI="true", COLUMNS="80")
    _, output = run(["bash", "-c", command], cwd=folder, env=env)
    return output


def examples(path, options):
    """A list of (line, problem or None), one for each block; bless rewrites the file."""
    text = path.read_text()
    results, pieces, end = [], [], 0
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        problem, new = check_block(match.group(1), options)
        results.append((f"{path.relative_to(SOURCE)}:{line}", problem))
        pieces += [text[end:match.start(1)], new]
        end = match.end(1)
    if options.bless and pieces:
        path.write_text("".join(pieces) + text[end:])
    return results


def check_block(block, options):
    """The problem (or Skip), and the block as it should read."""
    steps = steps_of(block)
    with tempfile.TemporaryDirectory(prefix="cuslim-docs-") as name:
        folder = Path(name)
        prepare(folder, options)
        for wheel in (w for step in steps for w in WHEEL.findall(step.command)):
            if not (folder / wheel).exists():
                return Skip(f"{wheel} is not in the cache"), block
        problem = blessed = ""
        for step in steps:
            output = run_example(step.command, folder, options)
            fixed = "..." in step.expected.splitlines()
            blessed += step.written + (step.expected if fixed else output)
            if not cli.glob_matches(step.expected, output) and (fixed or not options.bless):
                problem += "".join(difflib.unified_diff(
                    step.expected.splitlines(True), output.splitlines(True), step.command,
                    "actual"))
    return problem, blessed


# --- all of it -----------------------------------------------------------------------------------

def outcomes(options):
    """(name, Skip or text of the problem) pairs."""
    for name, check in (("manual pages", manual_pages), ("completions", completions)):
        try:
            yield name, "\n".join(check(options))
        except Skip as skip:
            yield name, skip
    for path in [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]:
        yield from examples(path, options)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--bless", action="store_true")
    options = parser.parse_args()
    options.cache = os.environ.get("CUSLIM_CACHE") or os.path.expanduser("~/.cache/cuslim")
    passed = failed = skipped = 0
    for name, problem in outcomes(options):
        if isinstance(problem, Skip):
            skipped += 1
            print(f"skip {name}: {problem}")
        elif problem:
            failed += 1
            print(f"FAIL {name}\n{problem}")
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
