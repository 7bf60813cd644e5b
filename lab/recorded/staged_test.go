package recorded_test

import (
	"context"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/askedrules"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/internal/mysqlite"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/vote"
)

type solved struct {
	DB       string `json:"db_id"`
	Question string
	NLQ      string
	Gold     string
	SQL      string
}

// askedIn reads questions with their golds; db stands for a missing db_id.
func askedIn(t *testing.T, file, db string) (list []solved) {
	for q := range evaldata.Lines[solved](t, evaldata.Path(t, "questions", file)) {
		if q.DB == "" {
			q.DB = db
		}
		q.Question, q.Gold = q.Question+q.NLQ, q.Gold+q.SQL
		list = append(list, q)
	}
	return list
}

// envs opens databases of the evaluation data for statements of MySQL.
func envs(t *testing.T) func(db string) *strategy.Env {
	opened := map[string]*strategy.Env{}
	return func(id string) *strategy.Env {
		if opened[id] != nil {
			return opened[id]
		}
		dir := "spider"
		if id == "classicmodels" {
			dir = id
		}
		pool := testutil.Value(mysqlite.OpenReadOnly(evaldata.Path(t, "db", dir, id+".sqlite")))(t)
		t.Cleanup(func() { pool.Close() })
		db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: mysqlite.Policy()}))(t)
		s := testutil.Value(db.Snapshot(t.Context()))(t)
		opened[id] = &strategy.Env{DB: db, Schema: s.Schema, Snapshot: s}
		return opened[id]
	}
}

// TestRulesOnGolds: a right statement is rarely doubted, empty results aside.
func TestRulesOnGolds(t *testing.T) {
	of := envs(t)
	for _, tt := range []struct {
		file, db string
		n, most  int // golds that run, and those that may be doubted
	}{
		{"questions_classicmodels.jsonl.gz", "classicmodels", 106, 2},
		{"classicmodels_train.jsonl", "classicmodels", 200, 5},
		{"questions_spider_dev.jsonl.gz", "", 496, 30},
	} {
		flagged, n := 0, 0
		for _, q := range askedIn(t, tt.file, tt.db) {
			if q.DB == "wta_1" {
				continue // its database is not among the data
			}
			env := of(q.DB)
			checked, err := env.DB.Examine(t.Context(), q.Gold, exec.DefaultChecks()...)
			if err != nil {
				t.Errorf("%s: %v", q.Gold, err)
				continue
			}
			n++
			rules := agent.Staged{}.Rules().Without("empty")
			read := rules.Read(q.Question, "")
			for _, v := range read.Numbers() {
				rules.List = append(rules.List, askedrules.Absent(v))
			}
			c := vote.Candidate{SQL: q.Gold, Statement: checked.Statement}
			if found := rules.About(read, c, checked.Table); len(found) > 0 {
				flagged++
				t.Logf("%s %v", q.Question, found)
			}
		}
		t.Logf("%s: %d of %d golds are doubted", tt.file, flagged, n)
		if flagged > tt.most || n != tt.n {
			t.Errorf("%s: %d of %d golds are doubted; at most %d of %d may be", tt.file, flagged, n, tt.most, tt.n)
		}
	}
}

// TestGoldSurvives: a right statement that is the only one there is stays the answer at every stage.
func TestGoldSurvives(t *testing.T) {
	of := envs(t)
	for _, tt := range []struct {
		file    string
		without bool // WithoutNameOnlyLists
		least   int
	}{
		{"questions_classicmodels.jsonl.gz", false, 105},
		{"questions_classicmodels.jsonl.gz", true, 105},
		{"classicmodels_train.jsonl", true, 198},
		{"classicmodels_train.jsonl", false, 188},
	} {
		for stage := range 4 {
			survived, n := 0, 0
			for _, q := range askedIn(t, tt.file, "classicmodels") {
				env := *of(q.DB)
				env.Models = []llm.Model{llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
					return llm.Response{Text: q.Gold, StopReason: llm.StopEnd}, nil
				})}
				out, err := agent.Staged{Stage: stage, WithoutNameOnlyLists: tt.without}.Generate(t.Context(), &env,
					strategy.Task{Question: q.Question})
				if err != nil {
					t.Fatal(q.Question, err)
				}
				n++
				equal := strings.TrimSuffix(strings.TrimSpace(q.Gold), ";") == out.SQL
				if !equal {
					a, err1 := env.DB.Query(t.Context(), q.Gold)
					b, err2 := env.DB.Query(t.Context(), out.SQL)
					if err1 != nil || err2 != nil {
						t.Fatal(err1, err2)
					}
					equal = result.Equality{}.Equal(a, b)
				}
				if equal {
					survived++
				} else {
					t.Logf("stage %d: %s\n\t%s\n\t%s", stage, q.Question, q.Gold, out.SQL)
				}
			}
			t.Logf("%s, stage %d, WithoutNameOnlyLists %v: %d of %d survive", tt.file, stage, tt.without, survived, n)
			if survived < tt.least {
				t.Errorf("%s, stage %d: at least %d must", tt.file, stage, tt.least)
			}
		}
	}
}
