"""The small files of all formats; for programs, too, that know nothing of pytest."""

from __future__ import annotations

from tests import (
    samples_ase,
    samples_iqm,
    samples_lwo,
    samples_md2,
    samples_md3,
    samples_md5,
    samples_mdc,
    samples_mdl,
    samples_mdm,
    samples_mdr,
    samples_mds,
    samples_tag,
)  # fmt: skip

# Every sample of every format: format's name -> sample's name -> the file.
SAMPLES: dict[str, dict[str, bytes]] = {
    "md2": {make.__name__: make().pack() for make in samples_md2.SPECS},
    "md3": {make.__name__: make().pack() for make in samples_md3.SPECS},
    "mdl": {make.__name__: make().pack() for make in samples_mdl.SPECS},
    "mdc": {make.__name__: make().pack() for make in samples_mdc.SPECS},
    "tag": {make.__name__: make() for make in samples_tag.FILES},
    "ase": {make.__name__: make() for make in samples_ase.FILES},
    "lwo": {make.__name__: make() for make in samples_lwo.FILES},
    "md5mesh": {make.__name__: make() for make in samples_md5.MESHES},
    "mdm": {make.__name__: make() for make in samples_mdm.MESHES},
    "iqm": {make.__name__: make().pack() for make in samples_iqm.SPECS},
    "mdr": {make.__name__: make() for make in samples_mdr.MODELS},
    "mds": {make.__name__: make() for make in samples_mds.FILES},
    "md5anim": {make.__name__: make() for make in samples_md5.ANIMS},
    "mdx": {make.__name__: make() for make in samples_mdm.ANIMS},
}
