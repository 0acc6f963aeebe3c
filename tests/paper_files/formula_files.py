"""Small files in the format of the public data sets on which formulas are asked."""

from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq

PEOPLE = """user_type,week,location,hour,people
student,week 4,B-01,0,117
staff,week 4,B-01,0,24
student,week 4,A-01,23,500
student,week 4,A-01,23,1
staff,week 4,A-01,23,30
visitor,week 4,A-01,23,9
staff,week 4,A-01,24,99
staff,week 4,,3,99
staff,week 4,A-01,3,
student,exam week,C-01,5,300
"""


def _written(folder, source, name, rows, types):
    place = folder / source
    place.mkdir(parents=True, exist_ok=True)
    values = zip(*rows, strict=True)
    table = {column: pa.array(column_values, kind) for (column, kind), column_values in zip(types, values, strict=True)}
    for column, values in table.items():
        if values.type == pa.string():
            table[column] = values.dictionary_encode()
    pq.write_table(pa.table(table), place / name)
    return folder


def write_trips(folder):
    first, last = datetime(2020, 3, 1), datetime(2020, 3, 14, 23, 59)
    rows = (
        [(first, 1, 20.5, 2)] * 3
        + [(first, 1, 20.0, 1)] * 2
        + [(last, 34, None, None)] * 4
        + [(last, 34, -5.0, 2)]
        + [(datetime(2020, 3, 15), 34, 30.0, 2), (datetime(2020, 2, 29, 23, 59), 1, 30.0, 2)]  # outside the days
        + [(first, None, 30.0, 2), (first, 35, 30.0, 2), (first, 0, 30.0, 2), (None, 1, 30.0, 2)]  # in no group
    )
    types = (
        ("pickup_time", pa.timestamp("us")),
        ("pickup_region", pa.int8()),
        ("fare_amount", pa.float64()),
        ("payment_type", pa.int8()),
    )
    return _written(folder, "nyc_green_taxi_2020", "trips.parquet", rows, types)


def write_people(folder, text=PEOPLE):
    place = folder / "campus_wifi_nus"
    place.mkdir(parents=True, exist_ok=True)
    (place / "hourly_people.csv").write_text(text)
    return folder


def write_lines(folder, items=45):
    """Item i has 100 - i lines long before, so that the last ones are not among those with most."""
    long_ago, monday, last = datetime(2010, 12, 1), datetime(2011, 11, 14), datetime(2011, 11, 29, 23, 59)
    rows = [(long_ago, f"{i:03}", 5.0) for i in range(items) for _ in range(100 - i)]
    rows += [(monday, "000", 20.01)] * 2 + [(monday, "000", 20.0)] + [(last, "042", None)] * 3
    rows += [(datetime(2011, 11, 19, 12), "000", 50.0)]  # a Saturday
    rows += [(datetime(2011, 11, 20, 12), "001", 50.0)]  # the Sunday after it, the sixth day
    rows += [(datetime(2011, 11, 30), "000", 50.0), (monday, "044", 50.0), (monday, None, 50.0), (None, "000", 50.0)]
    types = (("invoice_time", pa.timestamp("us")), ("stock_code", pa.string()), ("net_total", pa.float64()))
    return _written(folder, "online_retail_uk", "lines.parquet", rows, types)


def write_sales(folder):
    first, last = datetime(2021, 3, 1), datetime(2021, 4, 30)
    rows = (
        [(first, "Kanyon", "Female", "Clothing")] * 4
        + [(first, "Kanyon", "Male", "Clothing")] * 2
        + [(last, "Zorlu", "Female", "Toys"), (last, "Zorlu", None, None)]
        + [(datetime(2021, 5, 1), "Cevahir", "Female", "Clothing"), (first, None, "Female", "Clothing")]
    )
    types = (
        ("invoice_date", pa.timestamp("us")),
        ("shopping_mall", pa.string()),
        ("gender", pa.string()),
        ("category", pa.string()),
    )
    return _written(folder, "istanbul_mall_sales", "sales.parquet", rows, types)


def write_all(folder):
    return write_trips(write_people(write_lines(write_sales(folder))))
