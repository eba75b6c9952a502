"""The animations of a model as a list, whatever kind of model it is: where they are kept, and how they change."""
