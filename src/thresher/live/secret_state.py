"""Sealed secrets: what a stream keeps between steps, encrypted and bound to its stream and step.

Needs the `sealed` extra (`cryptography`) and a key in a file of its own, which is better not kept beside the ledger.
Without a key nothing secret is kept at all: open groups are closed when the stream is opened again.
Reads: a key file. Writes: a key file, if there is none. Never: a secret or a key in a message.
"""

import os
from pathlib import Path

from thresher.errors import CuratorError
from thresher.noise import SystemEntropy

_KEY_BYTES, _NONCE_BYTES = 32, 12


class Seal:
    """Seals with ChaCha20-Poly1305 under one key. What was sealed for another stream or step does not open."""

    def __init__(self, key: bytes) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305  # noqa: PLC0415 - an extra
        except ImportError:
            raise CuratorError(
                "a stream with a key_file needs the extra `sealed`: pip install '.[sealed]', or leave key_file out; "
                "then open groups are closed whenever the stream is opened again"
            ) from None
        self._cipher = ChaCha20Poly1305(key)

    def closed(self, secrets: bytes, about: str) -> bytes:
        nonce = SystemEntropy().read(_NONCE_BYTES)
        sealed: bytes = self._cipher.encrypt(nonce, secrets, about.encode())
        return nonce + sealed

    def opened(self, sealed: bytes, about: str) -> bytes:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - an extra

        try:
            secrets: bytes = self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], about.encode())
        except InvalidTag:
            raise CuratorError(
                "the key_file does not open what the stream kept: name the file it was sealed with. If that is lost, "
                "leave key_file out: then the open groups are closed, and the stream goes on"
            ) from None
        return secrets


def seal_of(path: Path | None, *, make: bool = True) -> Seal | None:
    """The seal of a key file, made on first use and readable by its owner alone; None without a file.

    `make`: whether there may be a first use, because nothing was sealed before.
    """
    if path is None:
        return None
    Seal(bytes(_KEY_BYTES))
    try:
        if make:
            _make(path)
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        raise CuratorError(
            f"the key_file {path} cannot be read or made: name a file of 64 hexadecimal digits"
        ) from None
    if len(key) != _KEY_BYTES:
        raise CuratorError(f"the key_file {path} does not hold 64 hexadecimal digits")
    return Seal(key)


def _make(path: Path) -> None:
    """A new key, unless there is one; complete before it has its name, so that two openings agree on one."""
    if path.exists():
        return
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(SystemEntropy().read(_KEY_BYTES).hex() + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(fresh, path)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
