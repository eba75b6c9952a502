"""What a modder sees: models as dataclasses of arrays. numpy only, never bpy."""
