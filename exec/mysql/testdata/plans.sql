SELECT c.name, o.total FROM customers AS c JOIN orders o ON o.customer = c.id WHERE c.city = 't3' ORDER BY o.total
SELECT c.name, o.total FROM customers AS c LEFT JOIN orders o ON o.customer = c.id AND o.total > 5
SELECT city, COUNT(*) FROM customers GROUP BY city ORDER BY COUNT(*) DESC
SELECT name, COUNT(*) FROM customers GROUP BY name
SELECT DISTINCT name FROM customers
SELECT id FROM customers WHERE id IN (SELECT customer FROM orders WHERE total > 10)
SELECT id, (SELECT MAX(total) FROM orders o WHERE o.customer = c.id) FROM customers c
SELECT id FROM customers WHERE id = (SELECT MAX(customer) FROM orders)
SELECT id FROM customers UNION SELECT customer FROM orders UNION ALL SELECT n FROM items
SELECT id FROM customers INTERSECT SELECT customer FROM orders
SELECT id FROM customers EXCEPT SELECT customer FROM orders
WITH x AS (SELECT customer, SUM(total) s FROM orders GROUP BY customer) SELECT * FROM x a JOIN x b ON a.customer = b.customer
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n < 5) SELECT * FROM r JOIN customers c ON c.id = r.n
SELECT * FROM v WHERE city = 't1'
SELECT * FROM vm
SELECT 1
SELECT id FROM customers WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = customers.id)
SELECT name, ROW_NUMBER() OVER (ORDER BY city) FROM customers
SELECT COUNT(*) FROM customers
SELECT * FROM customers WHERE id = 5
SELECT * FROM customers WHERE id = 500000
SELECT id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND o.total > c.id) OR c.city = 't3'
SELECT id FROM customers c WHERE id NOT IN (SELECT customer FROM orders)
SELECT * FROM customers c, items i
SELECT DISTINCT c.city FROM customers c JOIN orders o ON o.customer = c.id ORDER BY c.name LIMIT 3
SELECT * FROM orders WHERE day = '2024-02-03' OR customer = 5
