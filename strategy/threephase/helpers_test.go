package threephase_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// scripted is a model that finds some tables relevant and keeps them, and writes statements: the first one, then those
// of the corrections. It counts its calls.
type scripted struct {
	tables    []string       // by name
	columns   []string       // that each of them is needed for; nil: all
	synthesis map[string]any // the last reply about tables; nil: joined if there are several
	joins     string         // the reply about a pair of tables
	sql       []string       // replies; the last one answers for ever
	fail      func(llm.Request) error

	mu       sync.Mutex
	requests []llm.Request
	wrote    int
}

func (s *scripted) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if s.fail != nil {
		if err := s.fail(req); err != nil {
			return llm.Response{}, err
		}
	}
	text := req.Messages[len(req.Messages)-1].Text
	reply := ""
	switch req.Purpose {
	case "table":
		said := func(text string) map[string]any {
			relevant := slices.ContainsFunc(s.tables, func(name string) bool {
				return strings.Contains(text, "CREATE TABLE "+name+" (") ||
					strings.Contains(text, "CREATE TABLE "+prompttext.QuoteName(name)+" (")
			})
			return map[string]any{"is_relevant": relevant, "confidence": 0.9, "relevant_columns": s.columns,
				"reasoning": "it is about it"}
		}
		if reply = written(said(text)); strings.Contains(text, "\nTable 2:\n") {
			var list []map[string]any
			for i, one := range strings.Split(text, "\nTable ")[1:] {
				list = append(list, said(one))
				list[i]["table"] = i + 1
			}
			reply = written(map[string]any{"tables": list})
		}
	case "tables":
		reply = written(map[string]any{"final_tables": s.tables, "removed_tables": []string{}, "reasoning": "all"})
	case "synthesis":
		said := s.synthesis
		if said == nil {
			said = map[string]any{"joins_needed": len(s.tables) > 1}
		}
		reply = written(said)
	case "join":
		reply = s.joins
	default:
		reply = s.sql[min(s.wrote, len(s.sql)-1)]
		s.wrote++
	}
	return llm.Response{Text: reply, StopReason: llm.StopEnd, Usage: llm.Estimate(req, reply)}, nil
}

// of are the requests of a purpose.
func (s *scripted) of(purpose string) (list []llm.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.Purpose == purpose {
			list = append(list, r)
		}
	}
	return list
}

func written(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// last is the text of the last message.
func last(r llm.Request) string { return r.Messages[len(r.Messages)-1].Text }

func said(r llm.Request) string { return strategytest.Written(r.Messages) }

// states collects what a strategy announces, and fails where the table of states does not allow it.
func states(t *testing.T, env *strategy.Env) *[]session.State {
	t.Helper()
	heard := &[]session.State{}
	now := session.State(dialogue.SchemaLoading)
	var mu sync.Mutex
	env.Host.Stage = func(_ context.Context, s session.State) {
		mu.Lock()
		defer mu.Unlock()
		if !now.May(s) {
			t.Errorf("%s may not follow %s", s, now)
		}
		now = s
		*heard = append(*heard, s)
	}
	return heard
}

// ask asks about a database.
func ask(
	t *testing.T, env *strategy.Env, s threephase.Strategy, m llm.Model, task strategy.Task,
) (*strategy.Outcome, threephase.Report, error) {
	t.Helper()
	env = strategytest.Asking(env, m)
	states(t, env)
	out, err := s.Generate(t.Context(), env, task)
	if out == nil {
		t.Fatal(err)
	}
	report, rerr := strategy.ReadReport[threephase.Report](out.Report)
	if rerr != nil {
		t.Fatal(rerr)
	}
	return out, report, err
}

func named(names ...string) (tables []schema.TableName) {
	for _, n := range names {
		tables = append(tables, schema.TableName{Name: n})
	}
	return tables
}

func column(table, name string) schema.ColumnName {
	return schema.ColumnName{Table: schema.TableName{Name: table}, Column: name}
}

func joinOf(a, b schema.ColumnName) schema.Join { return schema.Join{Left: a, Right: b} }

// mapped says that a word means a column.
func mapped(term, table, name string) session.Correction {
	return session.Correction{Kind: dialogue.CorrectColumn, Term: term, Column: ptr(column(table, name))}
}

func ptr[T any](v T) *T { return &v }
