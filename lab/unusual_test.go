package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// oddities is a folder whose pools are unlike those that the program was made
// with, and all right: one question, one answer a question, answers without a
// statement, text that is no UTF-8, questions without difficulty or evidence.
func oddities(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	makeDatabase(t, filepath.Join(dir, "db", "any", "odd.db"), `
		CREATE TABLE "Ünter ""Tisch""" (id INTEGER, "näme" TEXT, raw BLOB, big INTEGER, r REAL);
		INSERT INTO "Ünter ""Tisch""" VALUES (1, CAST(x'4dfc6c6c6572' AS TEXT), x'00ff10', 9223372036854775807, 1e308),
			(2, NULL, zeroblob(100), -1, -0.0), (3, 'a' || char(0) || 'b', x'', 0, 9e999)`)
	makeDatabase(t, filepath.Join(dir, "db", "other", "none", "none.sqlite"), `CREATE TABLE t (a)`)
	const odd = `"Ünter ""Tisch"""`
	q := func(id int, db, gold string) string {
		return fmt.Sprintf(`{"qid": %d, "db_id": %q, "question": "Frage %d?", "gold": %q}`, id, db, id, gold)
	}
	a := func(run string, id int, sql string) string {
		return fmt.Sprintf(`{"run": %q, "qid": %d, "sql": %s}`, run, id, sql)
	}
	write(t, filepath.Join(dir, "questions", "questions_spider_dev.jsonl.gz"), pack(
		q(1, "odd", "SELECT näme, raw FROM "+odd), q(2, "odd", "SELECT raw FROM "+odd+" WHERE id = 1"),
		q(3, "none", "SELECT a FROM t")))
	write(t, filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz"), pack(
		a("single", 1, fmt.Sprintf("%q", "SELECT näme, raw FROM "+odd)),
		a("empty", 1, `""`), a("null", 1, "null"), a("prose", 1, `"I am sorry, but I cannot answer that."`),
		a("single", 2, fmt.Sprintf("%q", "SELECT raw FROM "+odd)), a("empty", 2, `""`),
		a("single", 3, `"SELECT * FROM t"`), a("empty", 3, `"  "`),
		a("twice", 1, `"SELECT 1"`), a("twice", 1, fmt.Sprintf("%q", "SELECT näme, raw FROM "+odd))))
	write(t, filepath.Join(dir, "questions", "questions_bird_dev.jsonl.gz"), pack(q(1, "none", "SELECT count(*) FROM t")))
	write(t, filepath.Join(dir, "predictions", "preds_bird_dev.jsonl.gz"), pack(a("b/c", 1, `"SELECT count(*) FROM t"`)))
	return dir
}

func TestVotesOnOddPools(t *testing.T) {
	dir := oddities(t)
	for _, pools := range [][]string{
		{"spider_dev/all", "bird_dev/all"}, {"bird_dev/all"}, {"spider_dev/single"}, {"spider_dev/empty"},
		{"spider_dev/null", "spider_dev/prose"},
		{"spider_dev/twice", "spider_dev/twice"},
	} {
		t.Run(strings.ReplaceAll(strings.Join(pools, "_"), "/", "-"), func(t *testing.T) {
			args := []string{"votes", "--data", dir, "--rounds", "20", "--rules", "--looks"}
			for _, pool := range pools {
				args = append(args, "--pool", pool)
			}
			if _, notes, err := evaluate(t, nil, args...); err != nil {
				t.Fatalf("a table: %v\n%s", err, notes)
			}
			args = append(args, "--json")
			out, _ := measured(t, nil, args...)
			again, _, _ := evaluate(t, nil, args...)
			if out != again {
				t.Errorf("two runs of one seed differ:\n%s\n%s", out, again)
			}
			for _, l := range objects(t, out) {
				if l["voter"] == "any" && l["pool"] == "spider_dev/all" && (l["right"] != 2.0 || l["n"] != 3.0) {
					t.Errorf("right are the questions 1 and 3: %v", l)
				}
				if l["voter"] == "consensus" && l["pool"] == "spider_dev/twice" && l["k"] != nil && l["k"] != 2.0 {
					t.Errorf("a pool asked for twice: %v", l)
				}
			}
		})
	}
}

func TestScoreAndRunOddAnswers(t *testing.T) {
	dir := oddities(t)
	answers := filepath.Join(dir, "predictions", "preds_spider_dev.jsonl.gz")
	out, notes := measured(t, nil, "score", "--data", dir, "--dataset", "spider_dev", "--predictions", answers, "--rounds",
		"20", "--json", "--timed", "--per-question",
		"--suites", t.TempDir())
	ex := map[string]float64{}
	for _, l := range objects(t, out) {
		if l["metric"] == "ex_set" {
			ex[l["run"].(string)] = l["value"].(float64)
		}
	}
	if !near(ex["single"], 2.0/3) || ex["empty"] != 0 || ex["null"] != 0 || ex["prose"] != 0 || ex["twice"] != 0 {
		t.Errorf("ex_set: %v", ex)
	}
	if !strings.Contains(notes, "answers to a question that the run had answered: 1 ("+answers+":10, question 1)") {
		t.Errorf("notes:\n%s", notes)
	}
	for _, strategy := range []string{"direct", "self-consistency", "consensus", "plan-vote", "petsql"} {
		out, notes, err := evaluate(t, nil, "run", "--data", dir, "--dataset", "spider_dev", "--strategy", strategy,
			"--model", "pool:spider_dev/all", "--rounds", "20", "--json")
		if err != nil {
			t.Errorf("%s: %v\n%s", strategy, err, notes)
			continue
		}
		if l := last(t, out, "strategy", strategy); l["n"] != 3.0 || l["failed"] != 0.0 {
			t.Errorf("%s: %v\n%s", strategy, l, notes)
		}
	}
}
