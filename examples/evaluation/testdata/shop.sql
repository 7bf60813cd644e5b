CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id));
INSERT INTO customers VALUES (1, 'Ada', 'USA'), (2, 'Mina', 'USA'), (3, 'Chloé', 'Germany');
INSERT INTO orders VALUES (1, 1), (2, 3);
