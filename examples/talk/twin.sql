-- The twin of customers: who had an account with the shop that this one took over.
CREATE TABLE clients (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  city TEXT NOT NULL,
  country TEXT NOT NULL, -- full English name: 'USA', 'France'
  since DATE NOT NULL -- day the account was opened
);
INSERT INTO clients VALUES
  (1, 'Pia Berger', 'Portland', 'USA', '2017-03-02'),
  (2, 'Ravi Sato', 'Lyon', 'France', '2018-11-21'),
  (3, 'Signe Holm', 'Portland', 'USA', '2019-06-30');
