"""The tables of an archive in SQLite, and the statements on them."""

from __future__ import annotations

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE remembered (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE record (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  site TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, time TEXT NOT NULL,
  heard TEXT NOT NULL, body BLOB NOT NULL, place TEXT NOT NULL, node TEXT NOT NULL,
  boot TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, session INTEGER NOT NULL,
  round INTEGER NOT NULL, words TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX record_key ON record (site, kind, key);
CREATE INDEX record_time ON record (time);
CREATE INDEX record_place ON record (place, time);
CREATE INDEX record_type ON record (type, time);
CREATE INDEX record_rare ON record (kind, time)
  WHERE kind IN ('alert', 'checkpoint', 'finding', 'access');
CREATE INDEX record_round ON record (session, round, time) WHERE session > 0;
CREATE INDEX record_kind ON record (kind, number);
-- what a record is found by, in lower case
CREATE TABLE word (
  word TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (word, number)
) STRICT, WITHOUT ROWID;
-- the boots of a table: how many of the events after `dropped` are here, and which is the last
CREATE TABLE run (
  site TEXT NOT NULL, place TEXT NOT NULL, boot TEXT NOT NULL, last INTEGER NOT NULL,
  here INTEGER NOT NULL, dropped INTEGER NOT NULL, time TEXT NOT NULL,
  PRIMARY KEY (site, place, boot)
) STRICT, WITHOUT ROWID;
-- what `drop` may remove, while it does
CREATE TABLE dropping (kind TEXT PRIMARY KEY, through INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TRIGGER record_stays BEFORE UPDATE ON record BEGIN
  SELECT raise(ABORT, 'a record is never changed');
END;
CREATE TRIGGER record_dropped BEFORE DELETE ON record
WHEN NOT EXISTS (SELECT 1 FROM dropping WHERE kind = OLD.kind AND through >= OLD.number) BEGIN
  SELECT raise(ABORT, 'a record is removed by the retention alone');
END;
CREATE TRIGGER word_stays BEFORE UPDATE ON word BEGIN
  SELECT raise(ABORT, 'a record is never changed');
END;
CREATE TRIGGER word_dropped BEFORE DELETE ON word
WHEN EXISTS (SELECT 1 FROM record WHERE number = OLD.number) BEGIN
  SELECT raise(ABORT, 'a record is never changed');
END;
"""
NOT_REPLACED = """CREATE TRIGGER record_not_replaced BEFORE INSERT ON record
WHEN EXISTS (SELECT 1 FROM record
  WHERE number = NEW.number OR (site = NEW.site AND kind = NEW.kind AND key = NEW.key)) BEGIN
  SELECT raise(FAIL, 'a record is never changed');
END"""
"""Earlier releases created another. FAIL, as in ``INSERT_RECORD``, not ABORT: a statement that may
abort first copies every page that it changes, which costs more than the insert itself. Nothing of a
failed ``store`` remains in either case.
"""
COLUMNS = (
    "number, site, kind, key, time, heard, body, place, node, boot, seq, type, session, round, "
    "words"
)
SELECT_EXISTING = f"SELECT {COLUMNS} FROM record WHERE site = ? AND kind = ? AND key = ?"  # noqa: S608
INSERT_RECORD = (
    "INSERT OR FAIL INTO record (number, site, kind, key, time, heard, body, place, node, boot, "
    "seq, type, session, round, words) VALUES {rows}"
)
INSERT_WORD = "INSERT INTO word VALUES {rows}"
UPDATE_RUN = (
    "INSERT INTO run VALUES {rows} ON CONFLICT DO UPDATE SET "
    "here = here + (excluded.last > dropped), last = max(last, excluded.last), "
    "time = max(time, excluded.time)"
)
_SEQS = (
    "SELECT CAST(substr(key, length(:run) + 1) AS INTEGER) AS seq FROM record "
    "WHERE site = :site AND kind = 'event' AND key > :run "
    "AND key < substr(:run, 1, length(:run) - 1) || ';'"
)
"""The numbers of the events of a table in one boot, from the index of the keys alone. ``run``: how
their keys begin.
"""
SELECT_GAPS = (
    "SELECT before, seq FROM (SELECT seq, lag(seq, 1, :dropped) OVER (ORDER BY seq) AS before "  # noqa: S608
    f"FROM ({_SEQS}) WHERE seq > :dropped) WHERE seq > before + 1"
)
UPDATE_DROPPED = (
    "UPDATE run SET dropped = max(dropped, :seq), here = (SELECT count(*) "  # noqa: S608
    f"FROM ({_SEQS}) WHERE seq > max(dropped, :seq)) "
    "WHERE site = :site AND place = :place AND boot = :boot"
)
PARTIAL_INDEX_CONDITIONS = {
    "session": "session > 0",
    "kind": "kind IN ('alert', 'checkpoint', 'finding', 'access')",
}
"""The conditions of partial indexes, spelled as in the schema, by their first column."""
REMOVABLE = (
    "FROM record INDEXED BY record_kind WHERE kind = ? AND number <= ? AND NOT EXISTS ("
    "SELECT 1 FROM json_each(?) AS spared WHERE spared.value ->> 0 = record.site "
    "AND spared.value ->> 1 = record.place "
    "AND record.number BETWEEN spared.value ->> 2 AND spared.value ->> 3)"
)
