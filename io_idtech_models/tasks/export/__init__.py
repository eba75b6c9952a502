"""What is written: which objects are meant, what comes of them, and how a model was exported last."""
