"""What a worker of the stream's crash tests does: open the stream, and release one step after another until it dies."""

from live.campuses import counts

from thresher.live.open_stream import open_stream
from thresher.live.recorded_noise import RecordedEntropy


def run(order: dict, emit) -> None:
    with open_stream(order["path"], "campus", entropy=RecordedEntropy(order["seed"])) as stream:
        emit(ready=stream.next_step)
        for step in range(stream.next_step, order["steps"]):
            emit(key=str(step), body=stream.put_counts(step, counts(step)).to_bytes().hex())
