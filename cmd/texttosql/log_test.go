package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/damage"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestLog: answers are kept without rows for their owner alone, listed, and run again without a model.
func TestLog(t *testing.T) {
	state := t.TempDir()
	db := shopFile(t)
	env := with(with(asking(t, always(neverOrdered)), "TEXTTOSQL_DSN", db), "XDG_STATE_HOME", state)
	without := map[string]string{"XDG_STATE_HOME": state} // neither a model nor a database
	if code, out, told := try(t, without, "", "log"); code != exitAnswer || out != "" ||
		!strings.Contains(told, "no answer is kept yet") {
		t.Errorf("nothing: code %d, %q %q", code, out, told)
	}
	if code, _, told := try(t, without, "", "last"); code != exitUsage ||
		!strings.Contains(told, "there is no answer 1: 0 are kept") {
		t.Errorf("nothing: code %d, %q", code, told)
	}

	for _, question := range []string{"Who never\nordered?", "Which customers in the USA never ordered?"} {
		if code, _, told := try(t, env, question, "ask", "-s", "direct"); code != exitAnswer {
			t.Fatal(code, told)
		}
	}
	for _, off := range []struct{ name, value, flag string }{{"TEXTTOSQL_LOG", "false", "--csv"}, {"X", "", "--no-log"}} {
		if code, _, told := try(t, with(env, off.name, off.value), "", "ask", "-s", "direct", off.flag,
			"Not kept?"); code != exitAnswer {
			t.Error(code, told)
		}
	}
	path := filepath.Join(state, "texttosql", "answers.jsonl")
	info := testutil.Value(os.Stat(path))(t)
	text := string(testutil.Value(os.ReadFile(path))(t))
	if info.Mode().Perm() != 0o600 || strings.Count(text, "\n") != 2 || strings.Contains(text, "Mina Jansen") ||
		strings.Contains(text, "Not kept") {
		t.Errorf("%v\n%s", info.Mode(), text)
	}

	code, out, told := try(t, without, "", "log")
	if lines := strings.Split(out, "\n"); code != exitAnswer || told != "" || len(lines) != 3 ||
		!strings.HasPrefix(lines[0], "  1  ") ||
		!strings.HasSuffix(lines[0], "shop.db  Which customers in the USA never ordered?") ||
		!strings.HasSuffix(lines[1], "Who never ordered?") {
		t.Errorf("code %d, %s%s", code, out, told)
	}
	if !strings.Contains(out, "  single  1 call, ") || !strings.Contains(out, " tokens  shop.db  ") {
		t.Errorf("the log has no level or cost: %s", out)
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
		{"under a policy of today",
			[]string{"last", "--policy", file(t, "policy.json", `{"DenyColumns": ["customers.country"]}`)}, exitRefused, "",
			"policy"},
		{"one that is not there", []string{"last", "3"}, exitUsage, "", "there is no answer 3: 2 are kept"},
		{"on another database", []string{"last", "--db", singers(t)}, exitUsage, "", "the answer is about " + db +
			", not about"},
		{"as lines of JSON", []string{"log", "--json", "-n", "1"}, exitAnswer,
			`"question":"Which customers in the USA never ordered?"`, ""},
	} {
		code, out, told := try(t, without, "", tt.args...)
		if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(told, tt.err) {
			t.Errorf("%s: code %d\n%s\n%s", tt.why, code, out, told)
		}
	}
}

// TestLogOfRejected: a question without an answer is in the log with its class and cost. last takes the last answer
// before it.
func TestLogOfRejected(t *testing.T) {
	state := t.TempDir()
	env := with(with(asking(t, always(neverOrdered)), "TEXTTOSQL_DSN", shopFile(t)), "XDG_STATE_HOME", state)
	rejected := with(asking(t, always("DELETE FROM customers")), "TEXTTOSQL_DSN", env["TEXTTOSQL_DSN"])
	if code, _, told := try(t, env, "", "ask", "-s", "direct", "Who never ordered?"); code != exitAnswer {
		t.Fatal(told)
	}
	if code, _, told := try(t, with(rejected, "XDG_STATE_HOME", state), "", "ask", "-s", "direct",
		"Remove all"); code != exitRefused {
		t.Fatal(code, told)
	}
	code, out, told := try(t, env, "", "log")
	if first, _, _ := strings.Cut(out, "\n"); code != exitAnswer || !strings.Contains(first, "  refused  1 call, ") ||
		!strings.HasSuffix(first, "  Remove all") {
		t.Errorf("%d %s%s", code, out, told)
	}
	if code, out, told := try(t, env, "", "last"); code != exitAnswer || !strings.HasPrefix(out, "Who never ordered?") {
		t.Errorf("last: %d %s%s", code, out, told)
	}
	if code, _, told := try(t, env, "", "last", "1"); code != exitUsage ||
		!strings.Contains(told, "question 1 has no answer (refused)") {
		t.Errorf("last 1: %d %s", code, told)
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
	text := string(testutil.Value(os.ReadFile(filepath.Join(state, "texttosql", "answers.jsonl")))(t))
	if strings.Contains(text, secret) || strings.Contains(text, `"db"`) || !strings.Contains(text, `"place":"127.0.0.1:`) {
		t.Error(text)
	}
	if code, _, told := try(t, env, "", "last"); code != exitUsage ||
		!strings.Contains(told, "name that database with --db") {
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
	if code, _, told := try(t, env, "", "ask", "-s", "direct", "-d", db, "--policy", policy, "--scope", scope("1"),
		"How many?"); code != exitAnswer {
		t.Fatal(code, told)
	}
	if code, _, told := try(t, env, "", "last", "--policy", policy, "--scope", scope("2")); code != exitUsage ||
		!strings.Contains(told, "in another scope") {
		t.Errorf("another scope: code %d, %s", code, told)
	}
	if code, out, told := try(t, env, "", "last", "--policy", policy, "--scope", scope("1"),
		"--csv"); code != exitAnswer || out != "n\n1\n" {
		t.Errorf("its scope: code %d, %s%s", code, out, told)
	}
}

// TestLogDamaged: no answer of a changed file is listed or run, and a warning names the file and the record. Those of
// an earlier version are listed once with a warning, and are written anew.
func TestLogDamaged(t *testing.T) {
	state := t.TempDir()
	env := with(with(asking(t, always(neverOrdered)), "TEXTTOSQL_DSN", shopFile(t)), "XDG_STATE_HOME", state)
	for _, question := range []string{"Who never ordered?", "Which customers never ordered?"} {
		if code, _, told := try(t, env, question, "ask", "-s", "direct"); code != exitAnswer {
			t.Fatal(code, told)
		}
	}
	path := filepath.Join(state, "texttosql", "answers.jsonl")
	p := &program{getenv: func(name string) string { return env[name] }}
	damage.Store{Path: path, Grows: true, Ordered: true, Read: func() (items, notes []string, err error) {
		a, err := p.readAnswers()
		if err != nil {
			return nil, nil, err
		}
		for _, e := range a.all {
			items = append(items, fmt.Sprintf("%+v", e))
		}
		if note := atomicfile.OldNote(answersFile, a.old); note != "" {
			a.notes = append(a.notes, note)
		}
		return items, a.notes, nil
	}}.Check(t)

	lines := strings.SplitAfter(string(testutil.Value(os.ReadFile(path))(t)), "\n")
	write := func(lines ...string) { testutil.OK(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600)) }
	write(strings.Replace(lines[0], "'USA'", "'USB'", 1), lines[1])
	code, out, told := try(t, env, "", "log")
	if code != exitAnswer || strings.Count(out, "\n") != 1 ||
		!strings.Contains(told, "answers.jsonl: record 1 is left out") {
		t.Errorf("one that was changed: code %d, %q, %q", code, out, told)
	}
	if code, _, told := try(t, env, "A third one?", "ask", "-s", "direct"); code != exitAnswer ||
		strings.Contains(told, "warning") {
		t.Errorf("beside it: code %d, %q", code, told)
	}
	if text := string(testutil.Value(os.ReadFile(path))(t)); strings.Count(text, "\n") != 3 ||
		!strings.Contains(text, "'USB'") {
		t.Errorf("the line that was changed is gone: %s", text)
	}

	object, _, err := atomicfile.Unsealed([]byte(lines[0]))
	testutil.OK(t, err)
	old := strings.Replace(string(object), `{"v":1,`, "{", 1) + "\n"
	for _, args := range [][]string{{"log"}, {"ask", "-s", "direct", "And now?"}} {
		write(old, lines[1])
		if code, _, told := try(t, env, "", args...); code != exitAnswer ||
			!strings.Contains(told, "answers.jsonl: record 1 has no checksum") {
			t.Errorf("of an earlier version, %s: code %d, %q", args, code, told)
		}
		if text := string(testutil.Value(os.ReadFile(path))(t)); !strings.HasPrefix(text, lines[0]+lines[1]) {
			t.Errorf("after %s:\n%s", args, text)
		}
		if code, out, told := try(t, env, "", "log"); code != exitAnswer || strings.Contains(told, "warning") ||
			!strings.Contains(out, "Who never ordered?") {
			t.Errorf("again, after %s: code %d, %q, %q", args, code, out, told)
		}
	}
}
