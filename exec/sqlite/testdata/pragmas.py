"""Reads the schema of a SQLite file with bare PRAGMAs, to measure BenchmarkInspect against.

    python3 pragmas.py FILE

Prints the CPU seconds of one reading, the mean of 20: each on a connection of its own, then all on one
connection, which has parsed the schema already.
"""
import sqlite3
import sys
import time

RUNS = 20


def read(connection):
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall():
        connection.execute(f'PRAGMA table_xinfo("{table}")').fetchall()
        connection.execute(f'PRAGMA foreign_key_list("{table}")').fetchall()
        for index in connection.execute(f'PRAGMA index_list("{table}")').fetchall():
            connection.execute(f'PRAGMA index_info("{index[1]}")').fetchall()


def main():
    start = time.process_time()
    for _ in range(RUNS):
        connection = sqlite3.connect(sys.argv[1])
        read(connection)
        connection.close()
    fresh = time.process_time() - start

    connection = sqlite3.connect(sys.argv[1])
    read(connection)
    start = time.process_time()
    for _ in range(RUNS):
        read(connection)
    print(fresh / RUNS, (time.process_time() - start) / RUNS)


main()
