import os
import signal
import threading
from multiprocessing import get_context

import numpy as np
import pytest

from thresher.errors import ArgumentError, EntropyError
from thresher.noise import NOT_PRIVATE, NotPrivate, SeededEntropy, SystemEntropy, chain, discrete_laplace, refine
from thresher.noise.entropy import _Lineage

WORKERS = 8


def _draw_in_child(entropy, queue):
    queue.put(entropy.read(16))


def test_forked_workers_never_share_bytes():
    entropy = SystemEntropy()
    entropy.read(16)  # a block is buffered now, and every child inherits a copy of it
    fork = get_context("fork")
    queue = fork.SimpleQueue()
    children = [fork.Process(target=_draw_in_child, args=(entropy, queue)) for _ in range(WORKERS)]
    for child in children:
        child.start()
    drawn = [queue.get() for _ in children] + [entropy.read(16)]
    for child in children:
        child.join()
    assert len(set(drawn)) == WORKERS + 1


def test_the_fork_check_has_teeth():
    """Without the owner check the child would read the parent's block: shown by faking the ownership."""
    entropy = SystemEntropy()
    entropy.read(16)
    read_end, write_end = os.pipe()
    if (child := os.fork()) == 0:
        entropy._local.owner = (_Lineage.forks, os.getpid())
        os.write(write_end, entropy.read(16))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read_end, 16) == entropy.read(16)
    os.close(read_end)
    os.close(write_end)


def test_threads_never_share_bytes():
    entropy, seen = SystemEntropy(), []
    barrier = threading.Barrier(WORKERS)

    def work():
        barrier.wait()
        seen.extend(entropy.read(16) for _ in range(500))

    threads = [threading.Thread(target=work) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == WORKERS * 500


def test_a_signal_handler_that_draws_gets_bytes_of_its_own():
    entropy, seen = SystemEntropy(), []
    old = signal.signal(signal.SIGALRM, lambda *_: seen.append(entropy.read(16)))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        while len(seen) < 20_000:
            seen.append(entropy.read(16))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("count", [0, 1, 7, 512, 513, 5000, 100_000])
def test_reads_have_the_length_asked_for(count):
    assert len(SystemEntropy().read(count)) == count
    assert len(SeededEntropy(1).read(count)) == count


def test_no_byte_of_a_block_is_handed_out_twice():
    served = []

    def source(count):
        served.append(os.urandom(count))
        return served[-1]

    entropy = SystemEntropy(source)
    out = [entropy.read(7) for _ in range(1000)]
    blocks = b"".join(block[: len(block) // 7 * 7] for block in served)
    assert blocks.startswith(b"".join(out))


def _broken(count):
    raise OSError("no device")


def _short(count):
    return os.urandom(count)[:-1]


def _dry_after(good):
    left = [good]

    def source(count):
        left[0] -= 1
        return os.urandom(count) if left[0] >= 0 else b""

    return source


def _text(count):
    return "x" * count


@pytest.mark.parametrize(
    "source", [_broken, _short, _dry_after(0), _text, lambda count: None, lambda count: [0] * count]
)
@pytest.mark.parametrize("size", [1, 100, 10_000])
def test_failing_entropy_stops_the_draw(source, size):
    with pytest.raises(EntropyError, match="no other randomness was used"):
        discrete_laplace("0.1", size, entropy=SystemEntropy(source))


def test_entropy_that_runs_dry_in_the_middle_stops_the_draw():
    with pytest.raises(EntropyError):
        discrete_laplace("0.1", 1_000_000, entropy=SystemEntropy(_dry_after(5)))
    with pytest.raises(EntropyError):
        refine(np.zeros(100_000, dtype=np.int64), "0.1", "0.2", entropy=SystemEntropy(_dry_after(3)))


def test_seeds_repeat_and_differ():
    assert SeededEntropy(1).read(64) == SeededEntropy(1).read(64)
    assert SeededEntropy(1).read(64) != SeededEntropy(2).read(64)
    one = SeededEntropy(1)
    assert one.read(64) != one.read(64)


@pytest.mark.parametrize("seed", [True, "x", 1.5, None])
def test_a_seed_is_an_integer(seed):
    with pytest.raises(ArgumentError, match="seed"):
        SeededEntropy(seed)


def test_whatever_a_seed_made_is_stamped():
    entropy = SeededEntropy(1)
    draws = discrete_laplace(1, 100, entropy=entropy)
    for made in (draws, draws + np.arange(100), draws[3:5], refine(draws, 1, 2, entropy=entropy)):
        assert isinstance(made, NotPrivate)
        assert made.stamp == NOT_PRIVATE
    assert chain([1, 2], 5, entropy=entropy).stamp == NOT_PRIVATE
    assert entropy.stamp == NOT_PRIVATE
    assert "NotPrivate" in repr(draws)
    for made in (draws, draws[:0], draws.reshape(10, 10)):
        assert str(made).endswith(NOT_PRIVATE)
        assert f"{made}".endswith(NOT_PRIVATE)


def test_real_noise_carries_no_stamp():
    assert type(discrete_laplace(1, 5)) is np.ndarray
    assert type(refine(discrete_laplace(1, 5), 1, 2)) is np.ndarray


def _own_source(count):
    return os.urandom(count)


def test_a_source_of_ones_own_is_stamped():
    entropy = SystemEntropy(_own_source)
    assert discrete_laplace(1, 5, entropy=entropy).stamp == NOT_PRIVATE


def test_a_stuck_generator_stops_the_draw():
    with pytest.raises(EntropyError, match="stuck"):
        discrete_laplace("0.3", 3, entropy=SystemEntropy(lambda count: b"\xff" * count))


def test_huge_and_negative_seeds_work():
    assert SeededEntropy(10**6000).read(8) != SeededEntropy(-5).read(8) != SeededEntropy(5).read(8)


@pytest.mark.parametrize("entropy", [42, "system", object(), SystemEntropy])
def test_what_is_not_entropy_is_refused(entropy):
    with pytest.raises(ArgumentError, match="entropy"):
        discrete_laplace(1, 5, entropy=entropy)
