"""Scores recorded answers with plain Python, to measure the scorer of package eval against.

    python3 speed.py DATA spider     all rows of preds_spider_dev, each distinct text executed once
    python3 speed.py DATA superhero  all rows of preds_bird_dev on superhero, both statements of every pair executed

An answer without a statement (nothing, or a comment alone) has no result, though sqlite3 gives it an
empty list of rows; two such answers of Spider would else count as right beside an empty gold.

Prints one JSON object. See speed_test.go.
"""
import gzip
import json
import os
import sqlite3
import sys


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        for line in f:
            yield json.loads(line)


def main():
    data, what = sys.argv[1:]
    dataset, source, folder, share = {
        "spider": ("spider_dev", "spider_dev", "spider", True),
        "superhero": ("bird_dev", "bird_dev", "bird", False),
    }[what]
    golds = {q["qid"]: q for q in lines(f"{data}/questions/questions_{dataset}.jsonl.gz")}
    here = {name[: -len(".sqlite")] for name in os.listdir(f"{data}/db/{folder}") if name.endswith(".sqlite")}
    connections, memo = {}, {}
    executed = 0

    def run(db, sql):
        nonlocal executed
        if share and (db, sql) in memo:
            return memo[db, sql]
        if db not in connections:
            connections[db] = sqlite3.connect(f"file:{data}/db/{folder}/{db}.sqlite?mode=ro", uri=True)
        executed += 1
        try:
            cursor = connections[db].execute(sql)
            rows = cursor.fetchmany(200_001) if cursor.description else None
        except (sqlite3.Error, sqlite3.Warning):
            rows = None
        if share:
            memo[db, sql] = rows
        return rows

    answers = right = 0
    for a in lines(f"{data}/predictions/preds_{source}.exec.jsonl.gz"):
        if a["db_id"] not in here:
            continue
        answers += 1
        gold, answer = run(a["db_id"], golds[a["qid"]]["gold"]), run(a["db_id"], a["sql"])
        right += gold is not None and answer is not None and set(gold) == set(answer)
    print(json.dumps({"answers": answers, "right": right, "executed": executed}))


main()
