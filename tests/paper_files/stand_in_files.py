"""Small files in the format of the public data sets that stand in for those of the paper."""

from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq

BUILDINGS = "building_id,name,type,category,footprint_m2,max_occupancy,mean_occupancy\n002,Skiles,A,N,5251.0,100,22.4\n\
010,Annex,A,N,12.0,7,0.5\n099,Closed,A,N,1.0,2,0.0\n"


def write_campus(folder, buildings=BUILDINGS):
    place = folder / "campus_wifi_gt"
    place.mkdir(parents=True)
    (place / "buildings.csv").write_text(buildings)
    seen = [
        (datetime(2025, 4, 14, 7, 0), "002", 91),
        (datetime(2025, 4, 14, 7, 50), "002", 60),
        (datetime(2025, 4, 14, 21, 50), "002", 73),
        (datetime(2025, 4, 14, 6, 50), "002", 99),  # before 7
        (datetime(2025, 4, 14, 22, 0), "002", 98),  # after 21:59
        (datetime(2025, 4, 15, 7, 10), "010", 7),
        (datetime(2025, 4, 14, 8, 0), "777", 500),  # no declared building
        (datetime(2025, 4, 14, 8, 0), "010", None),
    ]
    times, names, devices = zip(*seen, strict=True)
    table = {
        "time": pa.array(times, pa.timestamp("us")),
        "building_id": pa.array(names).dictionary_encode(),
        "devices": pa.array(devices, pa.int16()),
    }
    pq.write_table(pa.table(table), place / "occupancy_10min.parquet")
    return folder


def write_cabs(folder):
    place = folder / "nyc_green_taxi_2020"
    place.mkdir(parents=True)
    days = (
        [(datetime(2020, 3, 1, 0, 0), 1)] * 12
        + [(datetime(2020, 3, 14, 23, 59), 1)] * 10
        + [(datetime(2020, 3, 15, 0, 0), 1)] * 11
        + [(datetime(2020, 3, 30, 23, 59), 34)] * 3
        + [(datetime(2020, 3, 31, 0, 0), 34)] * 50  # after Q4
        + [(datetime(2020, 3, 9, 5, 0), None)] * 5
    )
    times, regions = zip(*days, strict=True)
    table = {
        "pickup_time": pa.array(times, pa.timestamp("us")),
        "pickup_region": pa.array(regions, pa.int8()),
        "fare_amount": pa.array([5.0] * len(days)),
    }
    pq.write_table(pa.table(table), place / "trips.parquet")
    return folder
