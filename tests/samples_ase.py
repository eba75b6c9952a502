"""Small hand-made ASE files, written by format strings of their own: see `samples`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Three = tuple[float, float, float]
Face = tuple[int, int, int]


@dataclass
class MaterialSpec:
    """A material; `parts` are those that it is made of."""

    name: str = "stone"
    bitmap: str = "//base/textures/stone"
    uvw: dict[str, float] = field(default_factory=dict)
    parts: Sequence[MaterialSpec] = ()

    def pack(self, number: int, keyword: str = "*MATERIAL") -> str:
        """Return the block."""
        lines = [f"\t{keyword} {number} {{", f'\t\t*MATERIAL_NAME "{self.name}"', "\t\t*MATERIAL_SHADING Blinn"]
        if self.bitmap:
            lines += ["\t\t*MAP_DIFFUSE {", f'\t\t\t*BITMAP "{self.bitmap}"']
            lines += [f"\t\t\t*{key} {value:.4f}" for key, value in self.uvw.items()] + ["\t\t}"]
        lines += [part.pack(nth, "*SUBMATERIAL").rstrip() for nth, part in enumerate(self.parts)]
        return "\n".join([*lines, "\t}", ""])


@dataclass
class MeshSpec:
    """An object with a mesh."""

    name: str
    points: list[Three]
    faces: list[Face]
    tverts: list[Three] = field(default_factory=list)
    tfaces: list[Face] = field(default_factory=list)
    normals: list[list[Three]] = field(default_factory=list)  # of each face: its own, and its corners'
    ids: list[int] = field(default_factory=list)  # of each face, which part of the material
    ref: int | None = 0
    rows: Sequence[Three] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))  # of its transform
    more: str = ""  # in the mesh
    lead: str = ""  # before the object

    def pack(self) -> str:
        """Return the block."""
        text = f'{self.lead}*GEOMOBJECT {{\n\t*NODE_NAME "{self.name}"\n\t*NODE_TM {{\n\t\t*NODE_NAME "{self.name}"\n'
        text += "".join(f"\t\t*TM_ROW{i} {x:.4f}\t{y:.4f}\t{z:.4f}\n" for i, (x, y, z) in enumerate(self.rows))
        text += f"\t}}\n\t*MESH {{\n\t\t*TIMEVALUE 0\n\t\t*MESH_NUMVERTEX {len(self.points)}\n"
        text += f"\t\t*MESH_NUMFACES {len(self.faces)}\n\t\t*MESH_VERTEX_LIST {{\n"
        text += "".join(f"\t\t\t*MESH_VERTEX {i:4}\t{x:.4f}\t{y}\t{z:.3f}\n" for i, (x, y, z) in enumerate(self.points))
        text += "\t\t}\n\t\t*MESH_FACE_LIST {\n"
        for i, (a, b, c) in enumerate(self.faces):
            part = f"\t *MESH_MTLID {self.ids[i]}" if self.ids else ""
            text += (
                f"\t\t\t*MESH_FACE {i:4}:    A: {a:4} B: {b:4} C: {c:4} AB: 1 BC: 0 CA: 1\t *MESH_SMOOTHING 1,3{part}\n"
            )
        text += "\t\t}\n"
        text += (set_of("\t\t", self.tverts, self.tfaces) if self.tverts else "") + self.more
        if self.normals:
            text += "\t\t*MESH_NORMALS {\n"
            for i, (normal, *corners) in enumerate(self.normals):
                text += "\t\t\t*MESH_FACENORMAL {}\t{:.4f}\t{:.4f}\t{:.4f}\n".format(i, *normal)
                for vertex, corner in zip(self.faces[i], corners, strict=True):
                    text += "\t\t\t\t*MESH_VERTEXNORMAL {}\t{:.4f}\t{:.4f}\t{:.4f}\n".format(vertex, *corner)
            text += "\t\t}\n"
        text += "\t}\n\t*PROP_CASTSHADOW 1\n"
        return text + ("" if self.ref is None else f"\t*MATERIAL_REF {self.ref}\n") + "}\n"


def pack(materials: Sequence[MaterialSpec], meshes: Sequence[MeshSpec], tail: str = "", head: str = "") -> bytes:
    """Return a file."""
    text = '*3DSMAX_ASCIIEXPORT\t200\n*COMMENT "by hand { it is"\n*SCENE {\n\t*SCENE_FILENAME "x.max"\n}\n' + head
    text += f"*MATERIAL_LIST {{\n\t*MATERIAL_COUNT {len(materials)}\n"
    text += "".join(material.pack(number) for number, material in enumerate(materials)) + "}\n"
    return (text + "".join(mesh.pack() for mesh in meshes) + tail).encode("latin-1")


UP: Three = (0, 0, 1)
CORNERS: list[Three] = [(-8, -6.5, 1.25), (8, -6.25, 1.25), (8.5, 6, 1.25), (-8.5, 7, 1.25), (0, 0.5, 9.125)]
FACES: list[Face] = [(0, 2, 1), (0, 3, 2), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
DOWN: Three = (0, 0, -1)
SIDES: list[Three] = [(0, -0.8, 0.6), (0.8, 0, 0.6), (0, 0.8, 0.6), (-0.8, 0, 0.6)]
HARD = [[DOWN] * 4, [DOWN] * 4] + [[side] * 4 for side in SIDES]
TVERTS: list[Three] = [(0, 0, 0), (1, 0.0625, 0), (1.25, 1, 0), (0.1, 0.9, 0), (0.5, 0.5, 0), (2, 3, 0)]
TFACES: list[Face] = [(0, 2, 1), (0, 3, 2), (0, 1, 4), (1, 2, 4), (5, 3, 4), (3, 0, 4)]


def pyramid() -> bytes:
    """Return a pyramid with hard edges and a seam."""
    mesh = MeshSpec("pyramid", CORNERS, FACES, TVERTS, TFACES, HARD, [0] * 6)
    return pack([MaterialSpec(bitmap="\\\\base\\textures\\stone.tga")], [mesh])


def moved_texture() -> bytes:
    """Return one whose texture coordinates are moved, stretched and turned, whose object is turned, and smooth."""
    uvw = {"UVW_U_OFFSET": 0.5, "UVW_V_OFFSET": -0.25, "UVW_U_TILING": 2, "UVW_V_TILING": -1.5, "UVW_ANGLE": 0.7}
    slanted: list[list[Three]] = [[SIDES[i % 4], SIDES[0], SIDES[1], UP] for i in range(6)]
    turned = ((0, 2, 0), (-2, 0, 0), (0, 0, 0.5))
    mesh = MeshSpec("turned one", CORNERS, FACES, TVERTS, TFACES, slanted, [0] * 6, 1, turned)
    return pack([MaterialSpec("models/a", "", {}), MaterialSpec("b", "X:/doom/base/models/b.TGA", uvw)], [mesh])


def several() -> bytes:
    """Return objects of all sorts: of several materials, in a group, without normals or faces; helpers."""
    parts = [MaterialSpec("textures\\wood", ""), MaterialSpec("textures/iron", "c:\\x.tga")]
    materials = [MaterialSpec("many", "", {}, parts), MaterialSpec("plain\xe9", "//base/textures/plain")]
    color = "\t\t*MESH_NUMCVERTEX 1\n\t\t*MESH_CVERTLIST {\n\t\t\t*MESH_VERTCOL 0 1 0.5 0\n\t\t}\n"
    color += "\t\t*MESH_NUMCVFACES 6\n\t\t*MESH_CFACELIST {\n"
    color += "".join(f"\t\t\t*MESH_CFACE {i} 0 0 0\n" for i in range(6)) + "\t\t}\n"
    light = "*LIGHTOBJECT {\n\t*X {\n\t}\n}\n"
    meshes = [
        MeshSpec("many", CORNERS, FACES, TVERTS, TFACES, HARD, [1, 1, 0, 7, 1, 0]),
        MeshSpec("bare", [*CORNERS, (99, 98, 97)], FACES, ref=1, lead='*GROUP "both" {\n'),
        MeshSpec("", CORNERS, FACES, TVERTS, TFACES, HARD, ref=None, more=color, lead=light),
        MeshSpec("none", [], [], ref=1, lead="}\n\n*COMMENT none has any\n"),
        MeshSpec("bare", CORNERS[:3], [(0, 1, 2), (0, 0, 2)], ref=1),
    ]
    helper = '*GEOMOBJECT {\n\t*NODE_NAME "empty"\n}\n*HELPEROBJECT {\n\t*NODE_NAME "h"\n}'
    return pack(materials, meshes, helper)


def lines_of_windows() -> bytes:
    """Return a file with other ends of lines and keywords in small letters."""
    mesh = MeshSpec("low", CORNERS, FACES, TVERTS, TFACES, HARD)
    text = pack([MaterialSpec("low")], [mesh])
    return text.replace(b"*MESH_V", b"*mesh_v").replace(b"\n", b"\r\n")


def colored() -> bytes:
    """Return a pyramid whose tip is red, and whose base is of two colours."""
    rows = [(0.3, 0.5, 0.7), (1, 0, 0), (0, 0, 1)]
    more = f"\t\t*MESH_NUMCVERTEX {len(rows)}\n\t\t*MESH_CVERTLIST {{\n"
    more += "".join(f"\t\t\t*MESH_VERTCOL {i}\t{r:.4f}\t{g:.4f}\t{b:.4f}\n" for i, (r, g, b) in enumerate(rows))
    more += f"\t\t}}\n\t\t*MESH_NUMCVFACES {len(FACES)}\n\t\t*MESH_CFACELIST {{\n"
    for number, face in enumerate(FACES):
        named = [1 if vertex == 4 else 2 if number == 0 else 0 for vertex in face]
        more += f"\t\t\t*MESH_CFACE {number} {named[0]} {named[1]} {named[2]}\n"
    return pack([MaterialSpec()], [MeshSpec("pyramid", CORNERS, FACES, TVERTS, TFACES, HARD, more=more + "\t\t}\n")])


def set_of(tabs: str, tverts: Sequence[Three], tfaces: Sequence[Face]) -> str:
    """Return texture coordinates and the triangles that have them."""
    text = f"{tabs}*MESH_NUMTVERTEX {len(tverts)}\n{tabs}*MESH_TVERTLIST {{\n"
    text += "".join(f"{tabs}\t*MESH_TVERT {i}\t{u:.4f}\t{v:.4f}\t{w:.4f}\n" for i, (u, v, w) in enumerate(tverts))
    text += f"{tabs}}}\n{tabs}*MESH_NUMTVFACES {len(tfaces)}\n{tabs}*MESH_TFACELIST {{\n"
    text += "".join(f"{tabs}\t*MESH_TFACE {i}\t{a}\t{b}\t{c}\n" for i, (a, b, c) in enumerate(tfaces))
    return text + f"{tabs}}}\n"


def channel(number: int, tverts: Sequence[Three], tfaces: Sequence[Face]) -> str:
    """Return a further set of texture coordinates."""
    inner = set_of("\t\t\t", tverts, tfaces)
    return f"\t\t*MESH_MAPPINGCHANNEL {number} {{\n{inner}\t\t}}\n"


LIGHT: list[Three] = [(0.0625 * i, 1.25 - 0.125 * i, 0) for i in range(18)]
LIGHT_FACES: list[Face] = [(3 * i, 3 * i + 1, 3 * i + 2) for i in range(6)]


def several_sets() -> bytes:
    """Return a pyramid of two materials with three sets of texture coordinates as 3ds Max writes them: 5 is drawn."""
    parts = [MaterialSpec("textures\\wood", ""), MaterialSpec("textures/iron", "c:\\x.tga")]
    mesh = MeshSpec("lit", CORNERS, FACES, TVERTS, TFACES, HARD, [1, 1, 0, 0, 1, 0])
    mesh.more = channel(3, LIGHT, LIGHT_FACES) + channel(5, [(v, u, w) for u, v, w in TVERTS], TFACES)
    uvw = {"UVW_U_OFFSET": 0.5, "UVW_V_TILING": 2.0}
    plain = MeshSpec("plain", CORNERS, FACES, TVERTS, TFACES, HARD, ref=1, more=channel(2, TVERTS, TFACES))
    return pack([MaterialSpec("many", "", {}, parts), MaterialSpec(uvw=uvw)], [mesh, plain])


def many_sets(count: int) -> bytes:
    """Return a pyramid with so many sets of texture coordinates, of which the last is drawn."""
    more = "".join(channel(n, [(u + n, v, w) for u, v, w in TVERTS], TFACES) for n in range(2, count + 1))
    return pack([MaterialSpec()], [MeshSpec("pyramid", CORNERS, FACES, TVERTS, TFACES, HARD, more=more)])


def nothing() -> bytes:
    """Return a file without objects and materials."""
    return b"*3DSMAX_ASCIIEXPORT 200\n"


FILES: tuple[Callable[[], bytes], ...] = (
    pyramid, moved_texture, several, lines_of_windows, colored, several_sets, nothing,
)  # fmt: skip
