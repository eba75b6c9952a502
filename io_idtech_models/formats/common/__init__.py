"""What several codecs share."""
