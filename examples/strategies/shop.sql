CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL); -- country: full English name
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), ordered_on DATE NOT NULL);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL);
INSERT INTO customers VALUES (1, 'Ada Kowalski', 'USA'), (2, 'Mina Jansen', 'USA'), (3, 'Chloé O''Brien', 'Germany'), (4, 'Noor Hughes', 'USA');
INSERT INTO orders VALUES (1, 1, '2024-03-01'), (2, 3, '2024-03-04'), (3, 1, '2024-05-09');
INSERT INTO products VALUES (1, 'Kite', 28.35), (2, 'Camp Stove', 120.6);
