"""What nodes do to a picture between its file and the surface: where they place it, and which colours they make of it.

Games place it by the UV map, and show the colours that the file has.
"""

from __future__ import annotations

from .. import names
from ..compat import Block
from ..provenance import GROUP, NODES, PICTURE
from .images import image_node_of, kinds_behind, makers_of, sources
from .pixels import is_made_otherwise


def is_recoloured(material: Block) -> bool:
    """Tell whether nodes make other colours than those of the picture that a material shows.

    What an import makes of a game's script is what the game makes, too: it notes the nodes. Of those that did not yet
    it is a picture times a colour, or several as numbers that become light at the end.
    """
    if image_node_of(material) is None:  # though an import may have shown one
        return PICTURE in material and names.file_name_of(material) == material.get(names.SOURCE)
    known = material.get(NODES)
    if isinstance(known, str) and names.file_name_of(material) == material.get(names.SOURCE):
        return kinds_behind(material) != known
    if names.GIVEN in material:
        return any(not (node.type == "GAMMA" or _tints(node)) for node in makers_of(material))
    return is_made_otherwise(material)


def _tints(node: Block) -> bool:
    """Tell whether a node multiplies with one colour."""
    if node.type != "MIX" or node.blend_type != "MULTIPLY":
        return False
    colors = [socket for socket in node.inputs if socket.type == "RGBA" and socket.enabled]
    return not all(socket.links for socket in colors)


def is_placed_by(picture: Block, uv_map: str) -> bool:
    """Tell whether an image node shows its image where a UV map, the one that is rendered, has it.

    That of a game's script is placed as the script says, by groups that an import made.
    """
    if picture.projection != "FLAT":
        return False
    socket, groups = picture.inputs["Vector"], ()
    while found := next(sources(socket, groups), None):
        node, way, groups = found
        if node.type == "MAPPING" and not node.mute and not _moves_nothing(node):
            return False
        if not (node.mute or node.type in {"MAPPING", "REROUTE"}):
            return node.type == "GROUP_INPUT" or _is_uv_map(node, way.name, uv_map)  # of a group it may be anything
        inputs = [each for each in node.inputs if each.type == "VECTOR"] or list(node.inputs)
        if not inputs or (node.type == "MAPPING" and not inputs[0].links):
            return False  # one place of the picture, everywhere
        socket = inputs[0]
    return True


def _moves_nothing(mapping: Block) -> bool:
    """Tell whether a Mapping node leaves what is in the plane as it is; one that others turn or move does not."""
    still = {"Location": (0.0,) * 3, "Rotation": (0.0,) * 3, "Scale": (1.0,) * 3}
    inputs = {socket.name: socket for socket in mapping.inputs if socket.name in still}  # a kind has not each of them
    size = {"Location": 2, "Rotation": 3, "Scale": 2}
    return not any(s.links or tuple(s.default_value)[: size[n]] != still[n][: size[n]] for n, s in inputs.items())


def _is_uv_map(node: Block, way: str, uv_map: str) -> bool:
    """Tell whether what leaves a node is a UV map, or comes of a group that an import made."""
    if node.type == "GROUP":
        return node.node_tree is not None and GROUP in node.node_tree
    name = {"UVMAP": "uv_map", "ATTRIBUTE": "attribute_name"}.get(node.type)
    return way == "UV" if name is None else getattr(node, name) in ("", uv_map)
