"""An LED sign at the other end of a line, as far as the Alpha protocol says what it shows."""

from __future__ import annotations


class AlphaSign:
    """Receives bytes. ``files``: label and size of the configured files; ``texts`` and ``strings``:
    their contents; ``blinks``: how often the display was redrawn.
    """

    def __init__(self) -> None:
        self._bytes = b""
        self.files: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self.strings: dict[str, str] = {}
        self.commands: list[bytes] = []
        self.blinks = 0
        self.cleared = 0

    def hear(self, data: bytes) -> None:
        self._bytes += data
        while b"\x04" in self._bytes:
            packet, _, self._bytes = self._bytes.partition(b"\x04")
            self._packet(packet)

    @property
    def shows(self) -> str:
        """Return the visible text: the priority text alone, or the text with its string."""
        if (priority := self.texts.get("0")) is not None:
            return priority
        said, _, label = self.texts.get("A", "").partition("\x10")
        return said + self.strings.get(label, "") if label else said

    def _packet(self, packet: bytes) -> None:
        head, stx, rest = packet.partition(b"\x02")
        command, etx, checksum = rest.partition(b"\x03")
        assert head == bytes(5) + b"\x01Z00"
        assert (stx, etx) == (b"\x02", b"\x03")
        assert max(packet) < 0x80, "a sign with parity takes seven bits"
        assert checksum == b"%04X" % (sum(b"\x02" + command + b"\x03") % 65536)
        self.commands.append(command)
        code, label, data = command[:1], command[1:2].decode(), command[2:]
        if code == b"A":
            self.blinks += 1
            self._text(label, data)
        elif code == b"G":
            assert len(data) <= self.files[label], "a sign empties what is too long"
            self.strings[label] = _said(data)
        else:
            assert command[:2] == b"E$"
            self._configure(data.decode())

    def _text(self, label: str, data: bytes) -> None:
        if label == "0" and not data:
            self.texts.pop("0", None)
            return
        assert len(data) <= (125 if label == "0" else self.files[label])
        assert data[:2] == b"\x1b\x20"
        assert data[2:3] in (b"b", b"c")
        self.texts[label] = _said(data[3:].replace(b"\x1e1", b""))

    def _configure(self, table: str) -> None:
        assert len(table) % 11 == 0
        if not table:
            self.files, self.cleared = {}, self.cleared + 1
            self.texts, self.strings = {}, {}
            return
        assert self.cleared, (
            "a sign shows nothing of a table of files before which none was cleared"
        )
        entries = [table[at : at + 11] for at in range(0, len(table), 11)]
        self.files = {entry[0]: int(entry[3:7], 16) for entry in entries}
        kinds = {entry[0]: entry[1:3] for entry in entries}
        assert kinds == {"A": "AU", "b": "BL"}


def _said(data: bytes) -> str:
    found, bytes_left = "", list(data)
    while bytes_left:
        each = bytes_left.pop(0)
        found += bytes((bytes_left.pop(0) + 0x60,)).decode("cp437") if each == 8 else chr(each)
    return found
