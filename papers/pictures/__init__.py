"""The pictures of the docs, made anew: `python -m papers.pictures.stream_pictures`."""
