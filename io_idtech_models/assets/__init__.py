"""Files with what lies beside them in a game, to models and files of other formats. No bpy."""
