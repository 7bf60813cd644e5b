"""Plan signature, cost and vote of galah92/egtts, written anew for timing.

Prints nanoseconds a candidate: EXPLAIN with signature and cost on a warm
connection (and of that the EXPLAIN alone), signature and cost alone, and the
vote, whose statistics are those of the published code.

Candidates are different statements, so the connection has no cache of compiled
ones: with it EXPLAIN would read the plan of the statement before.
"""
import re
import sqlite3
import time
from collections import Counter

db = sqlite3.connect(":memory:", cached_statements=0)
db.executescript("""
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), total REAL);
""")
SQL = ("SELECT DISTINCT c.name FROM customers AS c JOIN orders AS o "
       "ON o.customer_id = c.id WHERE c.country = 'USA'")


def explain(sql):
    return [row[3] for row in db.execute("EXPLAIN QUERY PLAN " + sql)]


def signature(details):
    parts = []
    for d in details:
        if m := re.match(r"SCAN (\w+)", d):
            parts.append("SCAN:" + m[1] + (":USING_INDEX" if "USING" in d else ""))
        elif m := re.match(r"SEARCH (\w+)", d):
            how = ""
            if "USING COVERING INDEX" in d:
                how = ":COVERING_INDEX"
            elif "USING INDEX" in d:
                how = ":USING_INDEX"
            elif "USING INTEGER PRIMARY KEY" in d:
                how = ":PRIMARY_KEY"
            parts.append("SEARCH:" + m[1] + how)
        elif "USE TEMP B-TREE" in d:
            parts.append("TEMP_BTREE:" + next((w.replace(" ", "_") for w in ("ORDER BY", "GROUP BY", "DISTINCT") if w in d), ""))
        else:
            parts.append(re.sub(r"\s+", "_", re.sub(r"\d+", "", d).strip())[:50])
    return "|".join(parts)


def cost(details):
    c = 0
    if any(d.startswith("SCAN ") and "'" not in d for d in details) and not any("USING INDEX" in d for d in details):
        c += 100
    if any("USE TEMP B-TREE" in d for d in details):
        c += 50
    return c


def vote(candidates):
    valid = [c for c in candidates if c["signature"] != "ERROR"]
    if not valid:
        return {"winner": candidates[0]["sql"], "all_invalid": True}
    counts = Counter(c["signature"] for c in valid)
    signature, votes = counts.most_common(1)[0]  # ties: the signature seen first
    members = [c for c in valid if c["signature"] == signature]
    return {
        "winner": min(members, key=lambda c: c["cost"])["sql"],
        "total": len(candidates),
        "valid": len(valid),
        "unique_signatures": len(counts),
        "winning_votes": votes,
        "vote_ratio": votes / len(valid),
        "distribution": dict(counts),
    }


def timed(f, n):
    f()
    start = time.perf_counter_ns()
    for _ in range(n):
        f()
    return (time.perf_counter_ns() - start) / n


details = explain(SQL)
candidates = [{"sql": f"{SQL} LIMIT {i % 6}", "signature": str(i % 3), "cost": i % 4} for i in range(15)]


def alone():
    signature(details)
    cost(details)


def whole():
    d = explain(SQL)
    signature(d)
    cost(d)


print("whole=%.0f" % timed(whole, 20000),
      "explain=%.0f" % timed(lambda: explain(SQL), 20000),
      "signature=%.0f" % timed(alone, 50000),
      "vote=%.0f" % (timed(lambda: vote(candidates), 20000) / len(candidates)))
