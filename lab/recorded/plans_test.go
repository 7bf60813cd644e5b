package recorded_test

import (
	"slices"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/strategy/planvote"
)

// TestSignatureOnSpider measures how often two answers with equal results have
// different signatures, over all pairs of answers to one question.
func TestSignatureOnSpider(t *testing.T) {
	if testing.Short() {
		t.Skip("explains and runs some thousand statements")
	}
	type ran struct {
		Run  string `json:"run"`
		Qid  int    `json:"qid"`
		DB   string `json:"db_id"`
		SQL  string `json:"sql"`
		Exec struct {
			Status string `json:"status"`
		} `json:"exec"`
	}

	type seen struct {
		fingerprint    string
		strict, compat string
	}
	var (
		dbs    = make(map[string]*exec.DB)
		known  = make(map[[2]string]*seen) // by database and text
		byQ    = make(map[int]map[string]*seen)
		failed int
	)
	for a := range evaldata.Lines[ran](t, evaldata.Path(t, "predictions", "preds_spider_dev.exec.jsonl.gz")) {
		if a.Exec.Status != "ok" {
			continue
		}
		db := dbs[a.DB]
		if db == nil {
			db = database(t, a.DB)
			dbs[a.DB] = db
		}
		key := [2]string{a.DB, a.SQL}
		s, ok := known[key]
		if !ok {
			plan, err := db.Explain(t.Context(), a.SQL)
			if err == nil {
				var rows *result.Table
				if rows, err = db.QueryWithin(t.Context(), a.SQL, db.Limits().Candidate); err == nil {
					if fp, ok := (result.Equality{Digits: 9}).Fingerprint(rows); ok {
						published, _ := planvote.PublishedSignature(plan)
						s = &seen{fingerprint: fp, strict: plan.Signature(), compat: published}
					}
				}
			}
			if s == nil {
				failed++
				t.Logf("not run: %v: %.100s", err, a.SQL)
			}
			known[key] = s
		}
		if s != nil {
			if byQ[a.Qid] == nil {
				byQ[a.Qid] = make(map[string]*seen)
			}
			byQ[a.Qid][a.Run] = s
		}
	}
	t.Logf("%d questions, %d distinct statements, %d of them not run", len(byQ), len(known), failed)

	for _, pool := range []struct {
		name       string
		runs       []string // nil: all
		mostStrict float64
		compat     float64 // as published; within 0.02
	}{
		{
			"four experts", []string{"dail_sql/DAIL-SQL+GPT-4", "dail_sql/DAIL-SQL+GPT-4+self-consistency", "dail_sql/graphix_result", "c3sql/predicted_sql"},
			0.20, 0.47,
		},
		{"34 runs", nil, 0.25, 0.46},
	} {
		var pairs, strict, compat float64
		var alike, misled float64 // pairs with equal strict signature; of them with different results
		for _, answers := range byQ {
			var list []*seen
			for run, s := range answers {
				if pool.runs == nil || slices.Contains(pool.runs, run) {
					list = append(list, s)
				}
			}
			for i, a := range list {
				for _, b := range list[:i] {
					if a.strict == b.strict {
						alike++
						if a.fingerprint != b.fingerprint {
							misled++
						}
					}
					if a.fingerprint != b.fingerprint {
						continue
					}
					pairs++
					if a.strict != b.strict {
						strict++
					}
					if a.compat != b.compat {
						compat++
					}
				}
			}
		}
		t.Logf("%s: of %.0f pairs with equal results %.1f%% have different strict signatures, %.1f%% different compat signatures; "+
			"of the pairs with equal strict signature %.1f%% differ in result",
			pool.name, pairs, 100*strict/pairs, 100*compat/pairs, 100*misled/alike)
		if got := strict / pairs; got > pool.mostStrict {
			t.Errorf("%s: strict signatures differ for %.3f of the pairs, want at most %.2f", pool.name, got, pool.mostStrict)
		}
		if got := compat / pairs; got < pool.compat-0.02 || got > pool.compat+0.02 {
			t.Errorf("%s: compat signatures differ for %.3f of the pairs, want %.2f", pool.name, got, pool.compat)
		}
	}
}

// TestPublishedSchemaData: the lengths that the published code gives.
func TestPublishedSchemaData(t *testing.T) {
	for path, length := range map[string]int{
		"chinook/Chinook_Sqlite.sqlite":              7856,
		"classicmodels/classicmodels.sqlite":         6902,
		"spider/student_transcripts_tracking.sqlite": 6221,
		"bird/superhero.sqlite":                      3940,
	} {
		env := envOf(t, openAt(t, evaldata.Path(t, "db", path), reveal))
		text, err := planvote.PublishedSchema(t.Context(), env, env.Schema, 0)
		if n := len([]rune(text + "\n")); err != nil || n != length {
			t.Errorf("%s: %d characters, want %d: %v", path, n, length, err)
		}
	}
}
