package mysql_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

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

// payload is a line of the payload files.
type payload struct {
	ID, Engine, Expect, Text, Base64, Why string
	Generator                             *struct {
		Prefix, Repeat, Middle, Close, Suffix string
		Times                                 int
	}
	Rows   *int
	Policy struct {
		DenyColumns []string `json:"deny_columns"`
		DenyTables  []string `json:"deny_tables"`
	}
}

func (p payload) sql(t *testing.T) string {
	switch {
	case p.Base64 != "":
		text, err := base64.StdEncoding.DecodeString(p.Base64)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	case p.Generator != nil:
		g := p.Generator
		return g.Prefix + strings.Repeat(g.Repeat, g.Times) + g.Middle + strings.Repeat(g.Close, g.Times) + g.Suffix
	}
	return p.Text
}

// payloads are those of MySQL.
func payloads(t *testing.T) (out []payload) {
	t.Helper()
	dir := os.Getenv("TEXTTOSQL_DATA")
	if dir == "" {
		t.Skip("TEXTTOSQL_DATA names no folder, which would have security/payloads.jsonl")
	}
	for _, name := range []string{"payloads", "payloads_engines"} {
		text, err := os.ReadFile(dir + "/security/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var p payload
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			if p.Engine == "mysql" {
				out = append(out, p)
			}
		}
	}
	return out
}
