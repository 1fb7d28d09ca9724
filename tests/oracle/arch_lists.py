"""Random arch lists for the oracles, and cuslim's answers to many questions at once."""

import concurrent.futures
import json
import os
import subprocess

PLAIN = [
    35,
    37,
    50,
    52,
    53,
    60,
    61,
    62,
    70,
    72,
    75,
    80,
    86,
    87,
    88,
    89,
    90,
    100,
    101,
    103,
    107,
    110,
    120,
    121,
]
ONLY_A = [90]
BOTH = [100, 101, 103, 107, 110, 120, 121]
NUMBERS = [str(n) for n in PLAIN] + [f"{n}a" for n in ONLY_A + BOTH] + [f"{n}f" for n in BOTH]


def dotted(number):
    """ "90a" -> "9.0a"."""
    digits = number.rstrip("af")
    return f"{digits[:-1]}.{digits[-1]}{number[len(digits):]}"


def ask(program, questions):
    """(exit code, stdout without its line end, stderr) of each list of words, in order."""

    def one(words):
        p = subprocess.run([program, *words], capture_output=True, text=True)
        return p.returncode, p.stdout.rstrip("\n"), p.stderr

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, questions))


def images(text):
    """The images that the JSON of `cuslim arch` names, as a sorted list of ("elf" | "ptx" | "nvvm", number)."""
    found = []
    for t in json.loads(text)["targets"]:
        number, source = t["target"].split("_")[1], t["from"].split("_")[1]
        found += (
            [("elf", number)] * t["sass"]
            + [("ptx", source)] * t["ptx"]
            + [("nvvm", number)] * t["lto"]
        )
    return sorted(found)
