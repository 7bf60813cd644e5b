package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/need"
)

// TestLog: answers are kept without rows for their owner alone, listed, and run again without a model.
func TestLog(t *testing.T) {
	state := t.TempDir()
	db := shopFile(t)
	env := with(with(asking(t, always(neverOrdered)), "TEXTTOSQL_DSN", db), "XDG_STATE_HOME", state)
	without := map[string]string{"XDG_STATE_HOME": state} // neither a model nor a database
	if code, out, told := try(t, without, "", "log"); code != exitAnswer || out != "" || !strings.Contains(told, "no answer is kept yet") {
		t.Errorf("nothing: code %d, %q %q", code, out, told)
	}
	if code, _, told := try(t, without, "", "last"); code != exitUsage || !strings.Contains(told, "there is no answer 1: 0 are kept") {
		t.Errorf("nothing: code %d, %q", code, told)
	}

	for _, question := range []string{"Who never\nordered?", "Which customers in the USA never ordered?"} {
		if code, _, told := try(t, env, question, "ask", "-s", "direct"); code != exitAnswer {
			t.Fatal(code, told)
		}
	}
	for _, off := range []struct{ name, value, flag string }{{"TEXTTOSQL_LOG", "false", "--csv"}, {"X", "", "--no-log"}} {
		if code, _, told := try(t, with(env, off.name, off.value), "", "ask", "-s", "direct", off.flag, "Not kept?"); code != exitAnswer {
			t.Error(code, told)
		}
	}
	path := filepath.Join(state, "texttosql", "answers.jsonl")
	info := need.Value(os.Stat(path))(t)
	text := string(need.Value(os.ReadFile(path))(t))
	if info.Mode().Perm() != 0o600 || strings.Count(text, "\n") != 2 || strings.Contains(text, "Mina Jansen") || strings.Contains(text, "Not kept") {
		t.Errorf("%v\n%s", info.Mode(), text)
	}

	code, out, told := try(t, without, "", "log")
	if lines := strings.Split(out, "\n"); code != exitAnswer || told != "" || len(lines) != 3 || !strings.HasPrefix(lines[0], "  1  ") ||
		!strings.HasSuffix(lines[0], "shop.db  Which customers in the USA never ordered?") || !strings.HasSuffix(lines[1], "Who never ordered?") {
		t.Errorf("code %d, %s%s", code, out, told)
	}
	_, direct, _ := try(t, env, "", "sql", "--csv", neverOrdered)
	for _, tt := range []struct {
		why      string
		args     []string
		code     int
		out, err string
	}{
		{"the last one", []string{"last"}, exitAnswer, "Which customers in the USA never ordered?\n\n" + neverOrdered, ""},
		{"exported", []string{"last", "--csv"}, exitAnswer, direct, ""},
		{"the one before", []string{"last", "2", "--show"}, exitAnswer, "ordered?\n\nSELECT", ""},
		{"as JSON", []string{"last", "--json"}, exitAnswer, `"rows":`, ""},
		{"under a policy of today", []string{"last", "--policy", file(t, "policy.json", `{"DenyColumns": ["customers.country"]}`)}, exitRefused, "", "policy"},
		{"one that is not there", []string{"last", "3"}, exitUsage, "", "there is no answer 3: 2 are kept"},
		{"on another database", []string{"last", "--db", singers(t)}, exitUsage, "", "the answer is about " + db + ", not about"},
		{"as lines of JSON", []string{"log", "--json", "-n", "1"}, exitAnswer, `"question":"Which customers in the USA never ordered?"`, ""},
	} {
		code, out, told := try(t, without, "", tt.args...)
		if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(told, tt.err) {
			t.Errorf("%s: code %d\n%s\n%s", tt.why, code, out, told)
		}
	}
}

// TestLogOfAServer: no part of a DSN that may be secret is kept, so the database is named again.
func TestLogOfAServer(t *testing.T) {
	state := t.TempDir()
	dsn := postgresOf(t, "asked", "CREATE TABLE singer (id INT)")
	env := with(asking(t, always("SELECT 7 AS seven")), "XDG_STATE_HOME", state)
	if code, _, told := try(t, env, "", "ask", "-s", "direct", "-d", dsn, "How many?"); code != exitAnswer {
		t.Fatal(code, told)
	}
	text := string(need.Value(os.ReadFile(filepath.Join(state, "texttosql", "answers.jsonl")))(t))
	if strings.Contains(text, secret) || strings.Contains(text, `"db"`) || !strings.Contains(text, `"place":"127.0.0.1:`) {
		t.Error(text)
	}
	if code, _, told := try(t, env, "", "last"); code != exitUsage || !strings.Contains(told, "name that database with --db") {
		t.Errorf("without a database: code %d, %s", code, told)
	}
	if code, out, told := try(t, env, "", "last", "--csv", "-d", dsn); code != exitAnswer || out != "seven\n7\n" {
		t.Errorf("with it: code %d, %s%s", code, out, told)
	}
}

// TestLogOfAScope: an answer runs again in its scope alone.
func TestLogOfAScope(t *testing.T) {
	state, db := t.TempDir(), singers(t)
	env := with(asking(t, always("SELECT count(*) AS n FROM singer")), "XDG_STATE_HOME", state)
	policy := file(t, "policy.json", `{"Rows": {"singer": "id = :id"}}`)
	scope := func(id string) string { return file(t, "scope.json", `{"Key": "`+id+`", "Params": {"id": `+id+`}}`) }
	if code, _, told := try(t, env, "", "ask", "-s", "direct", "-d", db, "--policy", policy, "--scope", scope("1"), "How many?"); code != exitAnswer {
		t.Fatal(code, told)
	}
	if code, _, told := try(t, env, "", "last", "--policy", policy, "--scope", scope("2")); code != exitUsage || !strings.Contains(told, "in another scope") {
		t.Errorf("another scope: code %d, %s", code, told)
	}
	if code, out, told := try(t, env, "", "last", "--policy", policy, "--scope", scope("1"), "--csv"); code != exitAnswer || out != "n\n1\n" {
		t.Errorf("its scope: code %d, %s%s", code, out, told)
	}
}
