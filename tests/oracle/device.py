"""An independent reader of device code, to judge cuslim by: plain Python, nothing of src/.

Reads ELF libraries, fatbin containers (concatenated entries too) and cubins as docs/format describes
them.  Decompression goes through the system's liblz4 and libzstd by ctypes.
"""

import collections
import ctypes
import ctypes.util
import mmap
import struct

ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
MAGIC = bytes.fromhex("50ed55ba01001000")
KINDS = {1: "ptx", 2: "sass", 8: "ltoir", 0x20: "index", 0x40: "ptx", 0x80: "tileir"}

Image = collections.namedtuple(
    "Image",
    "section container offset index part kind arch suffix codec flags identifier options "
    "code_version file_bytes image_bytes obfuscated load",
)
Kernel = collections.namedtuple(
    "Kernel", "name is_kernel code_bytes symbol_bytes registers shared frame local constant"
)

_libs = {}


def _lib(name):
    if name not in _libs:
        path = ctypes.util.find_library(name)
        _libs[name] = ctypes.CDLL(path) if path else None
    return _libs[name]


def can_decompress():
    return bool(_lib("lz4")) and bool(_lib("zstd"))


def decompress(codec, data, size):
    out = ctypes.create_string_buffer(size)
    if codec == "lz4":
        got = _lib("lz4").LZ4_decompress_safe(bytes(data), out, len(data), size)
    elif codec == "zstd":
        fn = _lib("zstd").ZSTD_decompress
        fn.restype = ctypes.c_size_t
        fn.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
        got = fn(out, size, bytes(data), len(data))
    else:
        raise ValueError(codec)
    if got != size:
        raise ValueError(f"{codec}: {got} instead of {size}")
    return out.raw


class Elf:
    def __init__(self, data):
        if data[:4] != b"\x7fELF" or data[4] != 2:
            raise ValueError("no 64-bit ELF")
        self.data = data
        self.type, self.machine = struct.unpack_from("<HH", data, 16)
        self.abi = data[8]
        self.flags = struct.unpack_from("<I", data, 48)[0]
        shoff = struct.unpack_from("<Q", data, 40)[0]
        count, names = struct.unpack_from("<HH", data, 60)
        if shoff and count == 0:
            first = SECTION.unpack_from(data, shoff)
            count, names = first[5], first[6] if names == 0xFFFF else names
        self.sections = [SECTION.unpack_from(data, shoff + 64 * i) for i in range(count)]
        table = self.content(names) if count else b""
        self.names = [_text(table, s[0]) for s in self.sections]

    def content(self, index):
        s = self.sections[index]
        return b"" if s[1] == 8 else self.data[s[4] : s[4] + s[5]]

    def symbols(self, index):
        table = self.content(index)
        strings = bytes(self.content(self.sections[index][6]))
        for at in range(0, len(table) - 23, 24):
            name, info, other, shndx, value, size = SYMBOL.unpack_from(table, at)
            yield at // 24, _text(strings, name), info, other, shndx, value, size


def _text(table, at):
    end = (
        table.find(b"\0", at)
        if isinstance(table, (bytes, mmap.mmap))
        else bytes(table).find(b"\0", at)
    )
    return bytes(table[at:end]).decode("utf-8", "replace")


def _suffix(flags):
    return "a" if flags & 0x100000 else "f" if flags & 0x200000 else ""


def _codec(flags):
    return (
        "lz4"
        if flags & 0x2000
        else "zstd" if flags & 0x8000 else "zlib" if flags & 0x1000 else "none"
    )


def _options(data, at, header, kind):
    if not header[5]:
        return None
    off, length = struct.unpack_from("<II", data, at + header[5])
    if kind in (1, 8, 0x40):
        return bytes(data[at + off : at + off + length]).decode("utf-8", "replace")
    return None


def _identifier(data, at, header):
    return (
        bytes(data[at + header[9] : at + header[9] + header[10]]).decode() if header[9] else None
    )


def _parts(data, at, section, container, index, header, blob):
    count, _ = struct.unpack_from("<II", data, at + 64)
    p = at + 72
    for part in range(count):
        h = ENTRY.unpack_from(data, p)
        yield Image(
            section,
            container,
            p,
            index,
            part,
            h[0],
            h[8],
            _suffix(h[11]),
            _codec(header[11]),
            h[11],
            _identifier(data, p, h),
            _options(data, p, h, h[0]),
            (h[7], h[6]),
            None,
            h[3],
            False,
            lambda h=h: blob()[h[2] : h[2] + h[3]],
        )
        if h[5]:
            length = struct.unpack_from("<I", data, p + h[5] + 4)[0]
            p += (h[5] + 8 + length + 1 + 7) // 8 * 8
        elif h[9]:
            p += (h[9] + h[10] + 1 + 7) // 8 * 8
        else:
            p += 64


def walk_container(data, start, section="", number=0):
    """Yields the images of the container at `start`; parts of a concatenated entry one by one."""
    size = struct.unpack_from("<Q", data, start + 8)[0]
    at, end, index = start + 16, start + 16 + size, 0
    while at < end:
        h = ENTRY.unpack_from(data, at)
        payload, codec = at + h[2], _codec(h[11])

        def load(payload=payload, h=h, codec=codec):
            if codec == "none":
                raw = data[payload : payload + h[3]]
                return raw.split(b"\0", 1)[0] if h[0] in (1, 0x40) else raw
            return decompress(codec, data[payload : payload + h[4]], h[13])

        if h[0] == 0x100:
            cache = []

            def blob(load=load, cache=cache):
                if not cache:
                    cache.append(load())
                return cache[0]

            yield from _parts(data, at, section, number, index, h, blob)
        else:
            yield Image(
                section,
                number,
                at,
                index,
                None,
                h[0],
                h[8],
                _suffix(h[11]),
                codec,
                h[11],
                _identifier(data, at, h),
                _options(data, at, h, h[0]),
                (h[7], h[6]),
                h[2] + h[3],
                h[13] if codec != "none" else h[3],
                bool(h[11] & 0x10000),
                load,
            )
        at, index = payload + h[3], index + 1
    if at != end:
        raise ValueError(f"container at {start:#x} does not end where it says")


def _well_formed(data, start, limit):
    size = struct.unpack_from("<Q", data, start + 8)[0]
    at, end = start + 16, start + 16 + size
    if end > limit:
        return None
    while at < end:
        if at + 64 > end:
            return None
        header = struct.unpack_from("<HHIQ", data, at)
        if header[1] != 0x101 or header[2] < 64:
            return None
        at += header[2] + header[3]
    return end if at == end else None


def containers(data):
    """(section name, offset) of every container in an ELF file, or of a bare fatbin file."""
    if data[:8] == MAGIC:
        at = 0
        while at is not None and data[at : at + 8] == MAGIC:
            end = _well_formed(data, at, len(data))
            yield "", at
            at = end
        return
    elf = Elf(data)
    for i, s in enumerate(elf.sections):
        if s[1] in (0, 8) or not s[2] & 2:
            continue
        at, end = s[4], s[4] + s[5]
        while True:
            at = data.find(MAGIC, at, end)
            if at < 0:
                break
            stop = _well_formed(data, at, end) if at % 8 == 0 else None
            if stop:
                yield elf.names[i], at
            at = stop or at + 8


def _cubin_extent(data, start):
    """Bytes of the cubin that starts here, None when none does."""
    if data[start + 4 : start + 5] != b"\x02" or data[start + 18 : start + 20] != b"\xbe\0":
        return None
    phoff, shoff = struct.unpack_from("<QQ", data, start + 32)
    phnum, count = struct.unpack_from("<H2xH", data, start + 56)
    end = max(64, phoff + 56 * phnum if phnum else 0, shoff + 64 * count)
    for i in range(count):
        s = SECTION.unpack_from(data, start + shoff + 64 * i)
        if s[1] not in (0, 8):
            end = max(end, s[4] + s[5])
    return end


def loose_cubins(data):
    """Cubins that lie in a section without a container."""
    if data[:4] != b"\x7fELF" or data[18:20] == b"\xbe\0":
        return
    elf = Elf(data)
    taken = []
    for _, start in containers(data):
        taken.append((start, start + 16 + struct.unpack_from("<Q", data, start + 8)[0]))
    for i, s in enumerate(elf.sections):
        if s[1] in (0, 8) or not s[2] & 2:
            continue
        at, end = s[4], s[4] + s[5]
        while at < end:
            at = data.find(b"\x7fELF", at, end)
            if at < 0:
                break
            inside = any(a <= at < b for a, b in taken)
            size = _cubin_extent(data, at) if at % 8 == 0 and not inside and at else None
            if size and at + size <= end:
                yield elf.names[i], at, size
            at += size or 8 - at % 8


def _loose_image(data, section, start, size):
    cubin = Cubin(data[start : start + size])
    return Image(
        section,
        None,
        start,
        None,
        None,
        2,
        cubin.sm,
        "a" if cubin.accelerated else "",
        "none",
        0,
        None,
        None,
        (0, 0),
        size,
        size,
        False,
        lambda: data[start : start + size],
    )


def images(data):
    """Every image of a library or fatbin, by offset."""
    found = [_loose_image(data, *place) for place in loose_cubins(data)]
    for number, (section, start) in enumerate(containers(data)):
        found.extend(walk_container(data, start, section, number))
    return sorted(found, key=lambda image: image.offset)


def open_file(path):
    with open(path, "rb") as f:
        return mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)


def target(image):
    prefix = "compute_" if image.kind in (1, 0x40, 8, 0x80) else "sm_"
    return f"{prefix}{image.arch}{image.suffix}"


def _info_records(data):
    at = 0
    while at + 4 <= len(data):
        form, attribute, value = struct.unpack_from("<BBH", data, at)
        if form == 4:
            yield attribute, data[at + 4 : at + 4 + value]
            at += 4 + value
        else:
            yield attribute, value
            at += 4


class Cubin:
    """Code sections, kernels and FUNC symbols of one cubin."""

    def __init__(self, data):
        elf = Elf(data)
        self.abi = elf.abi
        self.sm = (elf.flags >> 8) & 0xFF if elf.abi >= 8 else elf.flags & 0xFF
        self.accelerated = self.sm >= 90 and bool(elf.flags & (0x8 if elf.abi >= 8 else 0x800))
        self.text, self.constant, self.shared = {}, {}, {}
        symtab = info = None
        for i, s in enumerate(elf.sections):
            name = elf.names[i]
            if name.startswith(".text.") or name == ".text":
                self.text[i] = (name[6:], s[5])
            elif name.startswith(".nv.constant0."):
                self.constant[name[14:]] = s[5]
            elif name.startswith(".nv.shared.") and not name.startswith(".nv.shared.reserved"):
                self.shared[name[11:]] = s[5]
            elif name == ".symtab":
                symtab = i
            elif name == ".nv.info":
                info = i
            elif name == ".nv.compat":
                records = dict(_info_records(bytes(elf.content(i))))
                self.accelerated |= records.get(9) == 1
        self.code_bytes = sum(size for _, size in self.text.values())
        registers, frame, local = {}, {}, {}
        for attribute, value in _info_records(bytes(elf.content(info))) if info else ():
            if attribute in (0x2F, 0x11, 0x12, 0x23) and not isinstance(value, int):
                symbol, number = struct.unpack_from("<II", value)
                {0x2F: registers, 0x11: frame}.get(attribute, local)[symbol] = number
        self.funcs, self.kernels = [], []
        by_section = {}
        for index, name, kind, other, shndx, value, size in elf.symbols(symtab) if symtab else ():
            if kind & 15 == 2:
                self.funcs.append((name, size))
                if shndx in self.text and self.text[shndx][0] == name:
                    by_section[shndx] = (index, other, size)
        for i, (name, size) in self.text.items():
            index, other, symbol_size = by_section.get(i, (None, 0, 0))
            self.kernels.append(
                Kernel(
                    name,
                    bool(other & 0x10) or name in self.constant,
                    size,
                    symbol_size,
                    registers.get(index, 0),
                    self.shared.get(name, 0),
                    frame.get(index, 0),
                    local.get(index, 0),
                    self.constant.get(name, 0),
                )
            )
