"""A source's facts as bytes that a .blend can hold."""
