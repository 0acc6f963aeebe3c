"""The pictures of docs/diagnostics.md and docs/reproduce.md, made anew: `python -m papers.pictures.stream_pictures`."""
