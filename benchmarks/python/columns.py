"""manyhash in Polars, DuckDB and plain Python beside what users have there, and ClickHouse, on one core.
See ../README.md."""

import argparse
import hashlib
import os
import statistics
import time

# One core for everybody: threads of Polars, DuckDB and manyhash are then one each.
os.environ["POLARS_MAX_THREADS"] = "1"
os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])

import duckdb
import manyhash
import manyhash.duckdb
import manyhash.polars
import polars as pl
import polars_hash
from chdb.session import Session

#: Rows checked at a time.
CHECKED = 500_000


def polars_subjects(column):
    """Hexadecimal SHA-256 of a column of strings, as Polars' expressions."""
    frame = column.to_frame()
    ours, theirs = pl.col("x").manyhash.sha256(hex=True), polars_hash.col("x").chash.sha2_256()
    for name, expression in (("manyhash", ours), ("polars-hash", theirs)):
        check(name, column, frame.select(expression)["x"])
    return {"manyhash": lambda: frame.select(ours), "polars-hash": lambda: frame.select(theirs)}


def duckdb_subjects(column):
    """The same in DuckDB's SQL, and the query without a digest. A maximum takes little, and needs every digest."""
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    manyhash.duckdb.register(connection)
    table = column.to_frame().to_arrow()
    connection.register("arrow", table)
    connection.execute("create table rows as select x from arrow")
    for function in ("manyhash_sha256", "sha256"):
        result = connection.sql(f"select {function}(x) as x from rows").to_arrow_table()
        check(function, column, pl.from_arrow(result)["x"])
    names = {"manyhash_sha256": "manyhash_sha256(x)", "sha256": "sha256(x)", "(no digest)": "x"}
    query = {name: f"select max({value}) from rows" for name, value in names.items()}
    return {name: lambda text=text: connection.execute(text).fetchall() for name, text in query.items()}


def clickhouse_subjects(algorithm, column):
    """The greatest digest of a column, in ClickHouse's SQL, and in Polars with manyhash; and without a digest."""
    session = Session()
    session.query("create table rows (i UInt64, x String) engine = Memory")
    digits = f"leftPad(toString(number), 16, '0') from numbers({len(column)})"
    session.query(f"insert into rows select number, {digits} settings max_threads = 1")
    function = {"md5": "MD5", "sha256": "SHA256"}[algorithm]
    lines = session.query(f"select lower(hex({function}(x))) from rows order by i", "TSV").bytes().decode().split()
    check("ClickHouse", column, pl.Series(lines), algorithm)
    values = {function: f"{function}(x)", "(no digest)": "x"}
    texts = {name: f"select hex(max({value})) from rows settings max_threads = 1" for name, value in values.items()}
    queries = {
        name: lambda text=text: session.query(text, "TSV").bytes().decode().strip() for name, text in texts.items()
    }
    query = column.to_frame().lazy().select(getattr(pl.col("x").manyhash, algorithm)().max())

    def ours():
        return query.collect(engine="streaming").item().hex().upper()

    if ours() != queries[function]():
        raise SystemExit(f"ClickHouse: another greatest digest by {algorithm}")
    return {"manyhash": ours, **queries}


def list_subjects(algorithm, messages):
    """The digests of a list of bytes."""
    function = getattr(hashlib, algorithm)

    def ours():
        return manyhash.digest_many(algorithm, messages)

    def theirs():
        return [function(message).digest() for message in messages]

    if ours() != theirs():
        raise SystemExit(f"digest_many: a wrong digest by {algorithm}")
    return {"digest_many": ours, "hashlib": theirs}


def check(subject, column, digests, algorithm="sha256"):
    for start in range(0, len(column), CHECKED):
        rows = column.slice(start, CHECKED)
        expected = [hashlib.new(algorithm, row.encode()).hexdigest() for row in rows]
        if digests.slice(start, CHECKED).to_list() != expected:
            raise SystemExit(f"{subject}: a wrong digest")


def measure(subjects, rounds):
    """Seconds of each subject, the median over rounds, each of which begins with the next subject."""
    samples = {name: [] for name in subjects}
    names = list(subjects)
    for i in range(rounds):
        for name in names[i % len(names) :] + names[: i % len(names)]:
            # A virtual machine may have given back to its host what the other subject left free, and to have it back
            # takes longer than the hashing. So the memory of each sample is what the same subject has just had.
            subjects[name]()
            begin = time.perf_counter()
            result = subjects[name]()
            samples[name].append(time.perf_counter() - begin)
            # What it takes to free it is nobody's.
            del result
    return {name: statistics.median(times) for name, times in samples.items()}


def report(load, rows, medians):
    ours, *_ = medians.values()
    for name, seconds in medians.items():
        print(f"{load:<28} {name:<16} {seconds:>9.3f} s {seconds / rows * 1e9:>8.1f} ns {seconds / ours:>8.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of 16 bytes in Polars and DuckDB")
    parser.add_argument("--messages", type=int, default=1_000_000, help="messages of 32 bytes in a list")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()

    print(f"{'load':<28} {'subject':<16} {'median':>11} {'a row':>11} {'manyhash x':>8}")
    column = pl.Series("x", pl.int_range(options.rows, eager=True).cast(pl.String).str.zfill(16))
    for load, subjects in (("Polars, SHA-256 hex", polars_subjects), ("DuckDB, SHA-256 hex", duckdb_subjects)):
        report(load, options.rows, measure(subjects(column), options.rounds))
    for algorithm in ("sha256", "md5"):
        medians = measure(clickhouse_subjects(algorithm, column), options.rounds)
        report(f"ClickHouse, max of {algorithm}", options.rows, medians)
    messages = [b"%032d" % i for i in range(options.messages)]
    for algorithm in ("sha256", "md5"):
        medians = measure(list_subjects(algorithm, messages), options.rounds)
        report(f"list of bytes, {algorithm}", options.messages, medians)


if __name__ == "__main__":
    main()
