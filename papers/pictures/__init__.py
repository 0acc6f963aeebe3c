"""Make the pictures of the docs again: `python -m papers.pictures.stream_pictures`."""
