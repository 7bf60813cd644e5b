package mysql_test

// fixture is that of the payloads, one statement a line.
const fixture = `CREATE TABLE t(a INTEGER, b TEXT);
CREATE TABLE users(id INTEGER, name TEXT, password TEXT);
INSERT INTO t VALUES (1,'alpha'),(2,'beta;gamma'),(3,NULL),(4,'it''s'),(5,'北京');
INSERT INTO users VALUES (1,'ann','s3cret-1'),(2,'bob','s3cret-2'),(3,'cyd','s3cret-3');
CREATE SEQUENCE s;
CREATE TABLE log_(x INT) ENGINE=MyISAM;
CREATE VIEW v_users AS SELECT id, name, password AS pw FROM users;
CREATE VIEW v_ok AS SELECT id, name FROM users;
CREATE PROCEDURE p_write() BEGIN DELETE FROM t; END;
CREATE PROCEDURE p() BEGIN DELETE FROM t; END;
CREATE FUNCTION f_write() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO t VALUES (9,'f'); RETURN 1; END;
CREATE FUNCTION p_write() RETURNS INT MODIFIES SQL DATA BEGIN DELETE FROM t; RETURN 1; END;
CREATE FUNCTION spy(i INT) RETURNS TEXT READS SQL DATA SQL SECURITY DEFINER BEGIN RETURN (SELECT password FROM users WHERE id=i); END;
CREATE FUNCTION lockit() RETURNS INT BEGIN RETURN GET_LOCK('fromfunc',0); END;
CREATE VIEW v_lock AS SELECT GET_LOCK('v',0) AS x;
CREATE VIEW v_spy AS SELECT spy(1) AS x;
CREATE TABLE big(id bigint primary key, k int, v text);
INSERT INTO big SELECT seq, seq%100, MD5(seq) FROM seq_1_to_100000`
