"""What Blender gets of each format, made from its row: operators, and what takes dropped files and exports collections.

A format's own differences are base classes and properties, chosen here; what they do stands with them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import bpy
from bpy.props import EnumProperty, IntProperty

from .. import formats
from ..blender.compat import Context
from ..formats import MOTION, SKELETAL, SKIN_DECLS, SKIN_FILES, VERTEX, Family, Format
from ..game.store import ARCHIVES
from .bases import file_filter, games_option, option_property, takes_drops
from .export.motion import ExportSkeletalAnimation
from .export.operators import MaterialsOption, SkinOption
from .export.skeletal import AnimationsOption, ExportSkeletalModel, FramesOption, MotionsOption, NormalsOption
from .export.vertex import ExportVertexModel, LevelsOption
from .import_.motion import ImportSkeletalAnimation, NumberedOption, TableOption
from .import_.skeletal import CompanionOption, ImportSkeletalModel
from .import_.vertex import ImportVertexModel, WeldOption


def operators_of(row: Format) -> tuple[type, ...]:
    """Return the operators of a format, and what lets its files be dropped, where that is not another's."""
    return _MAKERS[row.family](row)


def _of_vertex(row: Format) -> tuple[type, ...]:
    """Return what a format of models animated vertex by vertex gets."""
    rate: dict[str, Any] = {}
    if row.vertex.frame_rate:
        description = f"Frames per second of the scene, {row.vertex.frame_rate} in the games; 0 leaves it as it is"
        declare: Any = IntProperty
        rate["frame_rate"] = declare(
            name="FPS (0: Keep)", description=description, default=row.vertex.frame_rate, min=0, max=240
        )
    importer = _make(row, "import", [(WeldOption, row.vertex.uv_splits_vertices), (ImportVertexModel, True)], rate)
    options = [
        (LevelsOption, row.vertex.level_files),
        (SkinOption, row.skins == SKIN_FILES),
        (MaterialsOption, row.skins == SKIN_DECLS),
        (ExportVertexModel, True),
    ]
    return importer, _make(row, "export", options, _own_options(row)), _file_handler(row)


def _of_skeletal(row: Format) -> tuple[type, ...]:
    """Return what a format of models that skeletons move gets; its motions', too, where its files hold some."""
    bases = [(CompanionOption, row.skeletal.companions), (ImportSkeletalModel, True)]
    importer = _make(row, "import", bases, {"bind": _bind_option(row)})
    options = [
        (NormalsOption, row.skeletal.normals),
        (FramesOption, row.skeletal.companions),
        (AnimationsOption, row.skeletal.animation is not None and not row.skeletal.companions),
        (SkinOption, row.skins == SKIN_FILES),
        (MaterialsOption, row.skins == SKIN_DECLS),
        (MotionsOption, row.has_motions),
        (ExportSkeletalModel, True),
    ]
    exporter = _make(row, "export", options, _own_options(row))
    motions = [_import_of_motion(row)] if row.has_motions else []
    motions += [_export_of_motion(row), _motion_handler(row)] if row.motion.apart else []
    return importer, exporter, _file_handler(row), *motions


def _of_motion(row: Format) -> tuple[type, ...]:
    """Return what a format of motions gets; what lies with models is dropped with them, by the models' handler."""
    lies_with_models = any(row in other.skeletal.dropped_with for other in formats.ROWS)
    handlers = () if lies_with_models else (_file_handler(row),)
    return _import_of_motion(row), _export_of_motion(row), *handlers, _motion_handler(row)


_MAKERS: dict[Family, Callable[[Format], tuple[type, ...]]] = {
    VERTEX: _of_vertex,
    SKELETAL: _of_skeletal,
    MOTION: _of_motion,
}


def _import_of_motion(row: Format) -> type:
    bases = [(TableOption, row.motion.joins_clips), (NumberedOption, row.motion.apart), (ImportSkeletalAnimation, True)]
    return _make(row, "import", bases, {}, "anim")


def _export_of_motion(row: Format) -> type:
    return _make(row, "export", [(ExportSkeletalAnimation, True)], _own_options(row), "anim")


def _make(
    row: Format, way: str, bases: Sequence[tuple[type, Any]], properties: dict[str, Any], space: str = ""
) -> type:
    """Return a format's operator for a `way`, import or export, of those base classes that it wants, and properties."""
    what = f"{row.name.upper()} Animation" if space == "anim" and row.has_model else row.name.upper()
    shown = (*_suffixes_taken(row), *ARCHIVES) if way == "import" else row.suffixes
    members = {
        "__doc__": f"{way.capitalize()} {row.label}",
        "__annotations__": {"filter_glob": file_filter(shown)} | properties,
        "bl_idname": f"{way}_{space or space_of(row)}.idtech_{row.name}",
        "bl_label": f"{way.capitalize()} {what}",  # the file dialog's button has room for some twenty letters
        "row": row,
        "filename_ext": row.suffixes[0],
    }
    return type("Operator", (*(base for base, wanted in bases if wanted), bpy.types.Operator), members)


def space_of(row: Format) -> str:
    """Return where a format's operators live: `import_scene` and its like, `import_anim` for animations."""
    return "scene" if row.has_model else "anim"


def _suffixes_taken(row: Format) -> list[str]:
    """Return how the files end that an import takes: those of a format, and of what lies with its models."""
    others = row.skeletal.dropped_with
    return [suffix for each in (row, *others) for suffix in each.suffixes]


def _own_options(row: Format) -> dict[str, Any]:
    """Return the properties of an export that differ by format: its own options, and its games."""
    return {option.name: option_property(option) for option in row.options} | {"game": games_option(row.games)}


def _bind_option(row: Format) -> Any:
    """Return the property that says in which pose the meshes of a format are bound."""
    declare: Any = EnumProperty
    fit = ("FIT", "Best Fit", "The pose in which the weights of all vertices agree best: they move most as in the game")
    frame = ("FRAME", "Frame", "A frame of the animation")
    own = () if row.skeletal.bind_pose_missing else (("FILE", "File", "The pose in the file"),)
    description = "The pose in which the meshes are bound to the bones; it shows in edit mode"
    items = (*own, fit, frame)
    return declare(name="Bind Pose", description=description, items=items, default=items[0][0])


def _motion_handler(row: Format) -> type:
    """Return what lets the animations of a collection's armature be exported to a format; no file is dropped on it."""

    class Handler(bpy.types.FileHandler):
        bl_idname = f"IO_FH_idtech_{row.name}_animations"
        bl_label = row.label if not row.has_model else f"{row.label} Animations"
        bl_export_operator = f"export_anim.idtech_{row.name}"
        bl_file_extensions = ";".join(row.suffixes)

    return Handler


def _file_handler(row: Format) -> type:
    """Return what lets files of a format be dropped on a window, and collections be exported to it."""
    space = space_of(row)

    class Handler(bpy.types.FileHandler):
        bl_idname = f"IO_FH_idtech_{row.name}"
        bl_label = row.label
        bl_import_operator = f"import_{space}.idtech_{row.name}"
        bl_export_operator = f"export_{space}.idtech_{row.name}" if space == "scene" else ""  # see `_motion_handler`
        bl_file_extensions = ";".join(_suffixes_taken(row))

        @classmethod
        def poll_drop(cls, context: Context) -> bool:
            return takes_drops(context)

    return Handler
