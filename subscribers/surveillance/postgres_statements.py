"""The tables of an archive in PostgreSQL, the statements on them, and how text is
stored.
"""

from __future__ import annotations

from typing import LiteralString

SCHEMA = """
CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE remembered (name text PRIMARY KEY, value bytea NOT NULL);
CREATE TABLE counter (last bigint NOT NULL);
INSERT INTO counter VALUES (0);
CREATE TABLE record (
  number bigint PRIMARY KEY,
  site text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL,
  time text COLLATE "C" NOT NULL, heard text COLLATE "C" NOT NULL, body bytea NOT NULL,
  place text COLLATE "C" NOT NULL, node text COLLATE "C" NOT NULL, boot text COLLATE "C" NOT NULL,
  seq bigint NOT NULL, type text COLLATE "C" NOT NULL, session bigint NOT NULL,
  round bigint NOT NULL, words text[] COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX record_key ON record (site, kind, key);
CREATE INDEX record_time ON record (time, number);
CREATE INDEX record_place ON record (place, time, number);
CREATE INDEX record_type ON record (type, time, number);
CREATE INDEX record_rare ON record (kind, time, number) WHERE kind <> 'event' AND kind <> 'sealed';
CREATE INDEX record_kind ON record (kind, number);
CREATE INDEX record_seq ON record (site, place, boot, seq) WHERE kind = 'event';
CREATE INDEX record_round ON record (session, round, time) WHERE session > 0;
-- what a record is found by, in lower case
CREATE TABLE word (
  word text COLLATE "C" NOT NULL, number bigint NOT NULL, PRIMARY KEY (word, number)
);
-- the boots of a table: how many of the events after `dropped` are here, and which is the last
CREATE TABLE run (
  site text COLLATE "C" NOT NULL, place text COLLATE "C" NOT NULL, boot text COLLATE "C" NOT NULL,
  last bigint NOT NULL, here bigint NOT NULL, dropped bigint NOT NULL,
  time text COLLATE "C" NOT NULL, PRIMARY KEY (site, place, boot)
);
CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'a record is never changed';
END $$;
CREATE FUNCTION dropped() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF OLD.number <= coalesce(nullif(current_setting('novamas.dropping', true), '')::bigint, 0) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'a record is removed by the retention alone';
END $$;
CREATE TRIGGER record_stays BEFORE UPDATE OR TRUNCATE ON record
  FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER record_dropped BEFORE DELETE ON record FOR EACH ROW EXECUTE FUNCTION dropped();
CREATE TRIGGER word_stays BEFORE UPDATE OR TRUNCATE ON word
  FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER word_dropped BEFORE DELETE ON word FOR EACH ROW EXECUTE FUNCTION dropped();
"""
COLUMNS: LiteralString = (
    "number, site, kind, key, time, heard, body, place, node, boot, seq, type, session, round, "
    "words"
)
COPY = f"COPY record ({COLUMNS}) FROM STDIN (FORMAT BINARY)"
TYPES = (
    *("int8", "text", "text", "text", "text", "text", "bytea", "text", "text", "text"),
    *("int8", "text", "int8", "int8", "text[]"),
)
SELECT_EXISTING = (
    f"SELECT {COLUMNS} FROM record JOIN unnest(%s::text[], %s::text[], %s::text[]) "  # noqa: S608
    "AS asked (site, kind, key) USING (site, kind, key)"
)
UPDATE_RUN = (
    "INSERT INTO run VALUES (%s, %s, %s, %s, 1, 0, %s) ON CONFLICT (site, place, boot) "
    "DO UPDATE SET here = run.here + CASE WHEN excluded.last > run.dropped THEN 1 ELSE 0 END, "
    "last = greatest(run.last, excluded.last), time = greatest(run.time, excluded.time)"
)
SELECT_GAPS = (
    "SELECT site, place, boot, before + 1, seq - 1 FROM ("
    "SELECT record.site, record.place, record.boot, run.time, seq, "
    "lag(seq, 1, run.dropped) OVER (PARTITION BY record.place, record.boot ORDER BY seq) AS before "
    "FROM record JOIN run USING (site, place, boot) WHERE kind = 'event' AND site = %s "
    "AND run.here < run.last - run.dropped AND seq > run.dropped"
    ") AS events WHERE seq > before + 1 ORDER BY time, place, boot, seq"
)
COUNT_WORD = (
    "SELECT count(*) FROM (SELECT FROM word WHERE word >= %s AND word < %s LIMIT %s) AS few"
)
SELECT_SPELLINGS = (
    "WITH RECURSIVE said AS ((SELECT word FROM word WHERE word >= %s AND word < %s ORDER BY word "
    "LIMIT 1) UNION ALL SELECT (SELECT next.word FROM word AS next WHERE next.word > said.word "
    "AND next.word < %s ORDER BY next.word LIMIT 1) FROM said WHERE said.word IS NOT NULL) "
    "SELECT word FROM said WHERE word IS NOT NULL LIMIT %s"
)
BY_INDEX = "number IN (SELECT word.number FROM word WHERE word >= %s AND word < %s)"
# without OFFSET, PostgreSQL would look the words up first
BY_SCAN = "EXISTS (SELECT FROM word WHERE word = ANY(%s) AND word.number = record.number OFFSET 0)"
BY_SESSION = "session > 0 AND session = %s"
"""For sessions other than 0: the partial index covers only these."""
REMOVABLE = (
    "FROM record WHERE kind = %s AND number <= %s AND NOT EXISTS ("
    "SELECT 1 FROM unnest(%s::text[], %s::text[], %s::bigint[], %s::bigint[]) "
    "AS spared (site, place, first, last) WHERE spared.site = record.site "
    "AND spared.place = record.place AND record.number BETWEEN first AND last)"
)
UPDATE_DROPPED = (
    "UPDATE run SET dropped = greatest(dropped, %(seq)s), here = (SELECT count(*) FROM record "
    "WHERE kind = 'event' AND site = %(site)s AND place = %(place)s AND boot = %(boot)s "
    "AND seq > greatest(dropped, %(seq)s)) "
    "WHERE site = %(site)s AND place = %(place)s AND boot = %(boot)s"
)


def encode(value: str) -> str:
    """Return a text as it is stored: PostgreSQL cannot store U+0000."""
    if "\0" not in value and "\x1b" not in value:
        return value
    return value.replace("\x1b", "\x1b1").replace("\0", "\x1b0")


def decode(value: str) -> str:
    """Return a text as it was before :func:`encode`."""
    if "\x1b" not in value:
        return value
    return value.replace("\x1b0", "\0").replace("\x1b1", "\x1b")
