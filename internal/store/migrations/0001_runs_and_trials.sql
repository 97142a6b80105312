-- What both databases understand. Times are nanoseconds since 1970, rates bits
-- per second. A run's number is the store's own, its name what people call it:
-- the record's id, unless another run has that.
CREATE TABLE runs (
    number         BIGINT PRIMARY KEY,
    name           TEXT NOT NULL UNIQUE,
    identity       TEXT NOT NULL UNIQUE,
    id             TEXT NOT NULL,
    started_ns     BIGINT NOT NULL,
    added_ns       BIGINT NOT NULL,
    linerate       TEXT NOT NULL,
    kernel         TEXT NOT NULL,
    back_end       TEXT NOT NULL,
    hosts          TEXT NOT NULL,
    trials_count   BIGINT NOT NULL,
    missing_count  BIGINT NOT NULL,
    failures_count BIGINT NOT NULL
);
CREATE INDEX runs_started ON runs (started_ns);

-- Whole records, as they came.
CREATE TABLE records (
    run         BIGINT PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,
    sha256      TEXT NOT NULL,
    bytes_count BIGINT NOT NULL,
    json_gzip   BYTEA NOT NULL
);

-- What results of different runs have in common, once for all of them.
CREATE TABLE series (
    number    BIGINT PRIMARY KEY,
    from_host TEXT NOT NULL,
    to_host   TEXT NOT NULL,
    direction TEXT NOT NULL,
    streams   BIGINT NOT NULL,
    protocol  TEXT NOT NULL,
    tool      TEXT NOT NULL,
    setting   TEXT NOT NULL,
    phase     TEXT NOT NULL,
    UNIQUE (from_host, to_host, direction, streams, protocol, tool, setting, phase)
);
CREATE INDEX series_turned ON series (to_host, from_host);

CREATE TABLE trials (
    series           BIGINT NOT NULL REFERENCES series (number),
    run              BIGINT NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    trial            BIGINT NOT NULL,
    started_ns       BIGINT NOT NULL,
    goodput_bps      DOUBLE PRECISION NOT NULL,
    goodput_low_bps  DOUBLE PRECISION NOT NULL,
    goodput_high_bps DOUBLE PRECISION NOT NULL,
    ceiling_bps      DOUBLE PRECISION NOT NULL,
    cause            TEXT NOT NULL,
    PRIMARY KEY (run, trial)
);
-- All that a history shows, in its order: a year of a path is read in one walk.
CREATE INDEX trials_series ON trials (
    series, started_ns, run, trial,
    goodput_bps, goodput_low_bps, goodput_high_bps, ceiling_bps, cause
);
