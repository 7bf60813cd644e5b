-- as a superuser, in the database to ask about
CREATE ROLE texttosql LOGIN PASSWORD 'choose one' NOSUPERUSER NOCREATEDB NOCREATEROLE CONNECTION LIMIT 8;
GRANT USAGE ON SCHEMA public TO texttosql;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO texttosql; -- or columns: GRANT SELECT (id, name) ON customers TO texttosql;
ALTER ROLE texttosql SET default_transaction_read_only = on;
ALTER ROLE texttosql SET statement_timeout = '60s';
ALTER ROLE texttosql SET temp_file_limit = '256MB';
