"""Seal the secrets that a stream keeps between steps: encrypted, and bound to the stream and the step.

This needs the `sealed` extra (`cryptography`) and a file with a key, which should not lie beside the ledger. Without a
key no secret is stored: open groups are closed when the stream is opened again.
Reads: a key file. Writes: a key file, if there is none. Never: a secret or a key in a message.
"""

import os
from pathlib import Path

from thresher.errors import CuratorError
from thresher.noise import SystemEntropy

_KEY_BYTES, _NONCE_BYTES = 32, 12


class Seal:
    """Seal with ChaCha20-Poly1305 under one key. Secrets of another stream or step do not open."""

    def __init__(self, key: bytes) -> None:
        try:
            from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305  # noqa: PLC0415 - an extra
        except ImportError:
            raise CuratorError(
                "a stream with a key_file needs the extra `sealed`. Install it: pip install '.[sealed]'. Or leave "
                "key_file out; then open groups are closed whenever the stream is opened again"
            ) from None
        self._cipher = ChaCha20Poly1305(key)

    def closed(self, secrets: bytes, about: str) -> bytes:
        """Seal secrets so that they open for this stream and step only."""
        nonce = SystemEntropy().read(_NONCE_BYTES)
        sealed: bytes = self._cipher.encrypt(nonce, secrets, about.encode())
        return nonce + sealed

    def opened(self, sealed: bytes, about: str) -> bytes:
        """Open the secrets of this stream and step, or refuse another key's."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - an extra

        try:
            secrets: bytes = self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], about.encode())
        except InvalidTag:
            raise CuratorError(
                "the key_file is not the key with which the stream's secrets were sealed. Name that file. If it is "
                "lost, leave key_file out: then the open groups are closed, and the stream goes on"
            ) from None
        return secrets


def seal_of(path: Path | None, *, make: bool = True) -> Seal | None:
    """Return the seal of a key file, or None without a file.

    `make`: whether to make the file if it does not exist, readable by its owner alone; so only if nothing is sealed.
    """
    if path is None:
        return None
    # Without the extra this refuses, before a key is made.
    Seal(bytes(_KEY_BYTES))
    try:
        if make:
            _make(path)
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        raise CuratorError(
            f"the key_file {path} cannot be read{' or made' if make else ', and what is sealed needs its key'}. "
            "Name a file of 64 hexadecimal digits"
        ) from None
    if len(key) != _KEY_BYTES:
        raise CuratorError(f"the key_file {path} does not hold 64 hexadecimal digits. Name the right file")
    return Seal(key)


def _make(path: Path) -> None:
    """Make a key unless there is one. It is complete before it has its name, so two processes agree on one key."""
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
