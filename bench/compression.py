#!/usr/bin/env python3
"""Level against size and time: what `cuslim slim --recompress` makes of libraries, and the codec alone.

    compression.py [-j N] [--forms FORM:LEVEL,...] LIBRARY...

For each library and form one line of CSV: sizes of the device code before and after, of the file after,
and three times: of the codec alone on the same payloads (bench/codec.c), of the recompression inside
cuslim, and of the whole run with its reading, writing and proof.  docs/evidence/compression.md was made
from it.  Programs: CUSLIM and CODEC, else build/cuslim and build/bench/codec.
"""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORMS = ("lz4:3,lz4:9,lz4:12,zstd:1,zstd:3,zstd:6,zstd:9,zstd:12,zstd:15,zstd:19,zstd:22,"
         "concat:19")
COLUMNS = ("library,form,images,plain_bytes,stored_before,stored_after,file_before,file_after,"
           "codec_wall,codec_cpu,recompression_wall,slim_wall,slim_cpu")


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(programs, jobs, library, form, scratch):
    name, level = form.split(":")
    codec = subprocess.run([programs["codec"], "-j", jobs, name, level, library], check=True,
                           capture_output=True, text=True).stdout.strip().split(",")
    images, plain, before, after, codec_wall, codec_cpu = codec
    out = scratch / "out.so"
    start, cpu = time.monotonic(), cpu_of_children()
    run = subprocess.run([programs["cuslim"], "slim", "-v", library, "-o", out, "-j", jobs, "--no-free",
                          "--recompress", form, "--allow-floor", "unknown", "--force-vendor"],
                         check=True, capture_output=True, text=True)
    wall, cpu = time.monotonic() - start, cpu_of_children() - cpu
    inside = re.search(r"recompression: ([0-9.]+) of", run.stderr).group(1)
    return [library.name, form, images, plain, before, after, library.stat().st_size,
            out.stat().st_size, codec_wall, codec_cpu, inside, f"{wall:.3f}", f"{cpu:.3f}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", "--jobs", default="1")
    parser.add_argument("--forms", default=FORMS)
    parser.add_argument("libraries", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    programs = {"cuslim": os.environ.get("CUSLIM", ROOT / "build/cuslim"),
                "codec": os.environ.get("CODEC", ROOT / "build/bench/codec")}
    print(COLUMNS, flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for library in options.libraries:
            for form in options.forms.split(","):
                row = measure(programs, options.jobs, library, form, pathlib.Path(scratch))
                print(",".join(map(str, row)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
