"""Small files in the format of the public histograms."""

import pyarrow as pa
import pyarrow.parquet as pq


def write_histograms(folder, two=True, bins=40, largest=900):
    place = folder / "dpbench"
    place.mkdir(parents=True, exist_ok=True)
    rows = [(name, bin_, largest if bin_ % 10 == 3 else 0) for name in ("B", "A") for bin_ in range(bins)]
    names, places, counts = zip(*rows, strict=True)
    listed = {"dataset": pa.array(names).dictionary_encode(), "bin": places, "count": counts}
    pq.write_table(pa.table(listed), place / "hist_1d.parquet")
    if two:
        table = {"dataset": ["M", "M"], "row": [0, 255], "col": [7, 255], "count": [5000, 3]}
        pq.write_table(pa.table(table), place / "hist_2d_nonzero.parquet")
    return folder
