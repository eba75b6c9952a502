"""System libraries that PyPI's bpy links: which are missing, and which package brings them.

``python3 -m tools.libraries`` prints the Debian packages that are missing, for the CI script.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .common import either

INSTALL_COMMANDS = {
    "debian": "apt-get install",
    "fedora": "dnf install",
    "arch": "pacman -S",
}
FAMILY_NAMES = {"debian": "Debian or Ubuntu", "fedora": "Fedora", "arch": "Arch"}


@dataclass(frozen=True)
class Library:
    """A shared library and the packages that bring it."""

    name: str
    debian: str
    fedora: str
    arch: str
    needed_for: str = "import"

    def package(self, family: str) -> str:
        """Name the package (or packages, with a space between) of a family of distributions."""
        return {"debian": self.debian, "fedora": self.fedora, "arch": self.arch}[family]


# Read from the wheels 4.2.23, 4.5.15 and 5.2.3 with objdump -p (NEEDED) and ldd; libXxf86vm and libgomp are
# needed by 4.2 alone. libEGL is loaded when Blender renders with OpenGL: it aborts without.
LIBRARIES = (
    Library("libX11.so.6", "libx11-6", "libX11", "libx11"),
    Library("libXext.so.6", "libxext6", "libXext", "libxext"),
    Library("libXfixes.so.3", "libxfixes3", "libXfixes", "libxfixes"),
    Library("libXi.so.6", "libxi6", "libXi", "libxi"),
    Library("libXrender.so.1", "libxrender1", "libXrender", "libxrender"),
    Library("libXxf86vm.so.1", "libxxf86vm1", "libXxf86vm", "libxxf86vm"),
    Library("libSM.so.6", "libsm6", "libSM", "libsm"),
    Library("libICE.so.6", "libice6", "libICE", "libice"),
    Library("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon", "libxkbcommon"),
    Library("libGL.so.1", "libgl1", "libglvnd-glx", "libglvnd"),
    Library("libgomp.so.1", "libgomp1", "libgomp", "gcc-libs"),
    Library("libEGL.so.1", "libegl1 libgl1-mesa-dri", "libglvnd-egl mesa-dri-drivers", "libglvnd mesa", "render"),
)


def loads(name: str) -> bool:
    """Return whether the dynamic linker finds a library."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def missing(libraries: Iterable[Library] = LIBRARIES) -> list[Library]:
    """Return the libraries that this machine lacks; nothing on systems where the wheel brings its own."""
    if not sys.platform.startswith("linux"):
        return []
    return [library for library in libraries if not loads(library.name)]


def named_in(error: str) -> str | None:
    """Return the library that the dynamic linker's message says it can't open."""
    match = re.search(r"([\w.+-]+\.so[.\d]*): cannot open shared object file", error)
    return match.group(1) if match else None


def family(os_release: str) -> str | None:
    """Return whose packages a distribution uses, from the text of ``/etc/os-release``."""
    fields = dict(re.findall(r"^(ID|ID_LIKE)=[\"']?([^\"'\n]*)", os_release, re.MULTILINE))
    ids = [*fields.get("ID", "").split(), *fields.get("ID_LIKE", "").split()]
    aliases = {"ubuntu": "debian", "rhel": "fedora", "centos": "fedora", "archlinux": "arch"}
    return next((f for f in (aliases.get(name, name) for name in ids) if f in INSTALL_COMMANDS), None)


def packages(libraries: Sequence[Library], of_family: str) -> list[str]:
    """Name the packages to install, each once."""
    words = " ".join(library.package(of_family) for library in libraries).split()
    return list(dict.fromkeys(words))


def install_command(libraries: Sequence[Library], of_family: str) -> str:
    """Write the command that installs the libraries' packages."""
    return " ".join([INSTALL_COMMANDS[of_family], *packages(libraries, of_family)])


def advice(error: str, lacking: Sequence[Library], os_release: str) -> str | None:
    """Turn an import error about a shared library into what to install; None for any other error."""
    name = named_in(error)
    if name is None:
        return None
    names = list(dict.fromkeys([name, *(library.name for library in lacking)]))
    text = f"Blender needs system libraries that are missing here: {', '.join(names)}."
    found = family(os_release)
    if not lacking:
        return text + " Install the package of your distribution that holds it."
    if found:
        return f"{text}\nInstall them (as root): {install_command(lacking, found)}"
    lines = [f"    {FAMILY_NAMES[f]}: {install_command(lacking, f)}" for f in INSTALL_COMMANDS]
    return "\n".join([f"{text} Install them (as root), on {either(list(FAMILY_NAMES.values()))}:", *lines])


def os_release_text() -> str:
    """Read the distribution's description of itself, or nothing."""
    try:
        return Path("/etc/os-release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    print(*packages(missing(), "debian"))
