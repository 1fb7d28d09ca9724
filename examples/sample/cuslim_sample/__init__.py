"""A small CUDA package that ships its device code in every form there is; see the README."""

import ctypes
import pathlib

_here = pathlib.Path(__file__).parent


def load(name="_ops"):
    """Opens one of the libraries (needs the CUDA 13 runtime)."""
    return ctypes.CDLL(str(_here / f"{name}.abi3.so"))
