"""Samples as files and as models, and what an edit of the model changes in the file."""

from typing import Any

import numpy as np

from tests.facts import differences
from tests.samples import dump, load, sample


def packed(name: str) -> bytes:
    return sample(name, "md2")


def opened(name: str) -> Any:
    return load(packed(name))


def edit(name, change, **options):
    """Return the paths at which a sample's file differs after `change` of its model."""
    model = opened(name)
    change(model)
    return differences(packed(name), dump(model, **options))


def move(frame, vertex, *steps):
    """Return a change that moves a vertex by steps of its frame's box."""

    def change(model):
        model.surfaces[0].positions[frame, vertex] += model.source.surfaces[0].scale[frame] * np.array(
            steps, np.float32
        )

    return change


def shift(entry, *texels, first_only=False):
    """Return a change that moves the corners of a texture coordinate (or one) by texels, to the right and down."""

    def change(model):
        facts_of = model.source.surfaces[0].facts
        corners = np.argwhere(facts_of["st_index"] == entry)
        width, height = model.texture_size
        for triangle, corner in corners[: 1 if first_only else None].tolist():
            model.surfaces[0].uvs[triangle, corner] += (texels[0] / width, -texels[1] / height)

    return change
