"""In whose space a model is written: its own, where it hangs on another, or the world's."""
