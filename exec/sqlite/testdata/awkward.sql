-- A schema with everything that makes one awkward: see TestInspectAwkward.

CREATE TABLE "order details" ( -- lines of an order
  "order id" INTEGER NOT NULL, -- the order
  "a""b" TEXT DEFAULT 'it''s -- no comment',
  [c d] NUMERIC(10, 2) DEFAULT (1 + 1), /* in euro */
  `e.f` BLOB,
  "select" TEXT,
  "größe 北京" DOUBLE PRECISION,
  "" TEXT,
  untyped
);

-- names with dots, quotes, brackets and line ends
CREATE TABLE "main.shop" (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE);
CREATE TABLE "it's ""quoted""" ("x]y" TEXT PRIMARY KEY);
CREATE TABLE "group" ("from" INT, "where" INT, PRIMARY KEY ("where", "from"));
CREATE TABLE "two
lines" (a);
CREATE TABLE 'single' ('quoted' TEXT);

-- keys
CREATE TABLE parent (a INTEGER, b TEXT, c TEXT, PRIMARY KEY (b, a), UNIQUE (c, a)) WITHOUT ROWID;
CREATE TABLE child (
  id INTEGER PRIMARY KEY,
  a INTEGER,
  b TEXT,
  boss INTEGER REFERENCES CHILD,
  shop INT REFERENCES "main.shop"(ID),
  lost INT REFERENCES nowhere(id),
  wrong INT REFERENCES parent(missing),
  one INT REFERENCES parent,
  FOREIGN KEY (b, a) REFERENCES Parent,
  FOREIGN KEY (A, B) REFERENCES parent(A, B)
);
CREATE TABLE no_key (a INT);
CREATE TABLE to_no_key (a INT REFERENCES no_key);

-- indexes
CREATE TABLE indexed (a INT, b INT, c INT, UNIQUE (a), UNIQUE (b, a), UNIQUE (a));
CREATE UNIQUE INDEX "an index" ON indexed(c);
CREATE UNIQUE INDEX of_a_part ON indexed(b) WHERE a > 0;
CREATE UNIQUE INDEX of_an_expression ON indexed(a + b);
CREATE INDEX plain ON indexed(c, b);

-- generated columns, strict types
CREATE TABLE generated (
  a INT,
  b INT GENERATED ALWAYS AS (a * 2) VIRTUAL, -- twice a
  c TEXT AS (a || 'x') STORED NOT NULL
);
CREATE TABLE strictly (a INT NOT NULL, b ANY) STRICT;

-- views
CREATE VIEW cheap AS -- what costs little
  SELECT "order id" AS id, "c d" AS price FROM "order details" WHERE "c d" < 10;
CREATE VIEW named(x, y) AS SELECT a, b FROM parent;

-- virtual tables and their shadows
CREATE VIRTUAL TABLE notes USING fts4(title, body);
CREATE VIRTUAL TABLE places USING rtree(id, x1, x2, +label TEXT);
CREATE TABLE notes_of_mine (a);

-- made from a query: SQLite writes the text
CREATE TABLE copied AS SELECT a, b FROM parent;

-- changed later
CREATE TABLE changed (a INT /* first */);
ALTER TABLE changed ADD COLUMN b TEXT DEFAULT 'new';
ALTER TABLE changed RENAME TO renamed;

CREATE VIEW broken AS SELECT * FROM gone; -- left out

ANALYZE; -- makes sqlite_stat1, left out too
