"""Small files in the format of the public streams."""

from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq

START = datetime(2020, 6, 1)


def write_streams(folder, steps=40, singles=True):
    flights = {"step": range(steps), **{name: [i % 3] * steps for i, name in enumerate(("FAI", "ORD", "PSG", "XXX"))}}
    _parquet(folder / "us_flights_2001" / "departures_128_airports_5min.parquet", flights)
    times = [START + timedelta(minutes=5 * i) for i in range(steps)]
    parks = {"time_utc": times, **{f"p{i:03}": [i] * steps for i in range(128)}}
    _parquet(folder / "car_parks_de_2020" / "arrivals_5min.parquet", parks)
    rows = [(START + timedelta(hours=i), sensor, 10 * sensor + i) for sensor in range(20) for i in range(steps)]
    rows = [row for row in rows if row[1] != 3 or row[0] != START]  # sensor 3 lacks an hour
    hours, sensors, counts = zip(*rows, strict=True)
    counted = {"time": hours, "sensor_id": sensors, "count": counts}
    _parquet(folder / "melbourne_pedestrians" / "hourly_counts.parquet", counted)
    if singles:
        tweets = {"time": times, "aapl": [90] * steps, "crm": [4] * steps, "cvs": [0, 1] * (steps // 2)}
        _parquet(folder / "single_streams" / "tweet_volume_10_tickers_5min.parquet", tweets)
        for i, name in enumerate(
            ("calit2_inflow_30min", "aarhus_road_158324_5min", "bank_calls_5min", "nyc_taxi_passengers_30min")
        ):
            lines = [f"{time.isoformat(' ')},{10**i}" for time in times]
            (folder / "single_streams" / f"{name}.csv").write_text("\n".join(["time,count", *lines, ""]))
    return folder


def _parquet(place, table):
    place.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(table), place)
