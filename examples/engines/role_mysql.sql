-- as root; MySQL has no MAX_STATEMENT_TIME here: leave it out
CREATE USER texttosql@'%' IDENTIFIED BY 'choose one' WITH MAX_USER_CONNECTIONS 8 MAX_STATEMENT_TIME 60;
GRANT SELECT, SHOW VIEW ON shop.* TO texttosql@'%'; -- or columns: GRANT SELECT (id, name) ON shop.customers TO texttosql@'%';
