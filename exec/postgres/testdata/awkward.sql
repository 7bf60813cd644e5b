-- What makes a schema awkward to read.
CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'happy');
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE DOMAIN rating AS positive DEFAULT 3;
COMMENT ON DOMAIN rating IS 'from 1 to 5';
CREATE DOMAIN feeling AS mood;
CREATE SCHEMA app;
CREATE SCHEMA "Odd Schema";

CREATE TABLE customers (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name varchar(40) NOT NULL,
  email text UNIQUE,
  gone text,
  feels mood DEFAULT 'sad',
  felt mood[],
  stars rating,
  inner_life feeling,
  total numeric(10, 2) NOT NULL DEFAULT 0,
  doubled numeric GENERATED ALWAYS AS (total * 2) STORED,
  matrix integer[][],
  born date DEFAULT CURRENT_DATE,
  seen timestamp(3) with time zone,
  code character(3),
  bits bit varying(8),
  doc jsonb
);
ALTER TABLE customers DROP COLUMN gone;
COMMENT ON TABLE customers IS 'who buys; "all" of them';
COMMENT ON COLUMN customers.name IS 'full name
on two lines';
COMMENT ON COLUMN customers.stars IS 'how good';
CREATE UNIQUE INDEX ON customers (name, born) INCLUDE (total);
CREATE UNIQUE INDEX ON customers (lower(name));
CREATE UNIQUE INDEX ON customers (code) WHERE total > 0;
CREATE UNIQUE INDEX again ON customers (email);
CREATE INDEX ON customers (seen);

CREATE TABLE app.orders (
  shop integer,
  number bigserial,
  customer integer REFERENCES customers,
  parent_shop integer,
  parent_number bigint,
  PRIMARY KEY (number, shop),
  FOREIGN KEY (parent_number, parent_shop) REFERENCES app.orders (number, shop)
);
CREATE TABLE notes (customer integer REFERENCES customers (id), note text, shop integer, number bigint,
  FOREIGN KEY (shop, number) REFERENCES app.orders (shop, number));
CREATE TABLE "Odd Schema"."Select" ("from" integer PRIMARY KEY, "a ""b""" text, "ümläut" real);

CREATE TABLE measures (at timestamp NOT NULL, city text, value double precision, PRIMARY KEY (at, city)) PARTITION BY RANGE (at);
CREATE TABLE measures_2023 PARTITION OF measures FOR VALUES FROM ('2023-01-01') TO ('2024-01-01');
CREATE TABLE measures_rest PARTITION OF measures DEFAULT PARTITION BY LIST (city);
CREATE TABLE measures_rest_all PARTITION OF measures_rest DEFAULT;
CREATE TABLE readings (at timestamp, city text, FOREIGN KEY (at, city) REFERENCES measures);
CREATE TABLE animals (id integer PRIMARY KEY, name text);
CREATE TABLE dogs (breed text) INHERITS (animals);
CREATE TABLE nothing ();
CREATE UNLOGGED TABLE fast (a integer);
CREATE TABLE composite (c animals);

CREATE VIEW happy AS SELECT id, name, feels FROM customers WHERE feels = 'happy';
COMMENT ON VIEW happy IS 'those in good mood';
COMMENT ON COLUMN happy.feels IS 'always happy';
CREATE MATERIALIZED VIEW app.totals AS SELECT customer, count(*) AS n FROM app.orders GROUP BY customer;
CREATE UNIQUE INDEX ON app.totals (customer);

CREATE EXTENSION postgres_fdw;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER postgres_fdw;
CREATE FOREIGN TABLE remote (id integer OPTIONS (column_name 'nr') NOT NULL, name text) SERVER elsewhere;
COMMENT ON FOREIGN TABLE remote IS 'in another place';
