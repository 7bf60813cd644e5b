package linker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

func TestPerTableFailingTables(t *testing.T) {
	s := numbered("part_%d", 10)
	// a weak hit of words
	s.Tables[1].Name, s.Tables[1].Description = "other", "this is said of a part"
	s.Tables[2].Name, s.Tables[2].Columns = "third", tables([]string{"third", "part"}).Tables[0].Columns // one of .6
	in := linker.Input{Question: "what is part 3", Schema: s}
	down := &llm.Error{Class: llm.ClassOverloaded, Message: "down"}
	for _, tt := range []struct {
		fails    int // so many of ten tables, the first ones
		how      error
		reply    string // of a failing table, without how
		isFailed bool
		why      string
	}{
		{1, down, "", false, "one stays, because the question names a part"},
		{2, down, "", false, "and one goes, which has a word in its description only"},
		{1, nil, "no JSON", false, "the same of an unreadable reply, after asking again"},
		{1, nil, `{"confidence": 1}`, false, "and of one without a verdict"},
		{5, down, "", false, "half of them is not more than half"},
		{6, down, "", true, "more than half"},
		{6, nil, "no JSON", true, "also of unreadable replies"},
		{1, &llm.BudgetError{}, "", true, "without a budget no other call would be answered"},
	} {
		failing := s.Tables[:tt.fails]
		o := &oracle{tables: []string{"part_9"}, say: func(req llm.Request) (string, error) {
			if req.Purpose == "table" && slices.ContainsFunc(failing, func(t schema.Table) bool {
				return t.Name == shown(req)[0]
			}) {
				return tt.reply, tt.how
			}
			return "", nil
		}}
		root := trace.Tracer{}.New("test")
		got, err := linker.PerTable{Model: o}.Run(trace.NewContext(t.Context(), root), in)
		if failed := err != nil; failed != tt.isFailed || tt.how != nil && failed && !errors.Is(err, tt.how) {
			t.Errorf("%s: %v", tt.why, err)
		}
		if tt.isFailed {
			continue
		}
		warnings := root.Warnings()
		for i, v := range got.Tables {
			isDown := i < tt.fails
			kept := isDown && v.Table.Name != "other"
			if (v.Problem != "" && v.Relevant) != kept || v.Relevant != (kept || i == 9) || (v.Problem != "") != isDown ||
				v.Table.Name == "other" && isDown &&
					v.Score != .4 || v.Table.Name == "third" && isDown && v.Score != .6 {
				t.Errorf("%s: %+v", tt.why, v)
			}
			if isDown && (warnings[i].Code != "no-verdict" || !strings.Contains(warnings[i].Message, "the table "+v.Table.Name+
				",") ||
				!slices.Contains(got.Links.Notes, warnings[i].Message)) {
				t.Errorf("%s: warnings %v, notes %q", tt.why, warnings, got.Links.Notes)
			}
		}
		if len(warnings) != tt.fails {
			t.Errorf("%s: warnings %v", tt.why, warnings)
		}
	}
}

// TestPerTableLaterSteps: what the replies of phases 2 and 3 may be, and what comes of them.
func TestPerTableLaterSteps(t *testing.T) {
	s := tables([]string{"a", "id", "x"}, []string{"b", "id", "y"}, []string{"c", "id", "x"}, []string{"d", "id"})
	s.Tables[3].Schema = "other"
	for _, tt := range []struct {
		together, synthesis, want, why string
	}{
		{`{"final_tables": ["c", "a"]}`, `{"joins_needed": true, "combine": "JOIN"}`, `a c joins "join" []`,
			"in the order of the schema"},
		{`{"final_tables": ["\"A\"", "other.d"]}`, `{"joins_needed": false}`, `a d apart "" []`,
			"names may be quoted, in another case, with their schema"},
		{`{"final_tables": ["a", "z", "b; DROP"]}`, `{}`, `a apart "" []`, "unknown ones do nothing"},
		{`{"final_tables": []}`, `{}`, `a c d joins "" []`, "none: the candidates stay"},
		{`{"final_tables": ["b", "z"]}`, `{}`, `a c d joins "" []`, "none of the candidates: the same; b is no candidate"},
		{`{"removed_tables": ["c"]}`, `{}`, `a d joins "" []`, "what is removed, without a list of those that stay"},
		{`{"reasoning": "?"}`, `{}`, `a c d joins "" []`, "neither: asked again, then the candidates stay"},
		{`no`, `no`, `a c d joins "" []`, "no JSON: several tables are joined"},
		{`{"final_tables": ["a"]}`, `no`, `a apart "" []`, "and one is not"},
		{`{"final_tables": ["a", "c"]}`, `{"combine": "union"}`, `a c apart "union" []`, "a union needs no join"},
		{`{"final_tables": ["a", "c"]}`, `{"combine": "join", "joins_needed": false}`, `a c joins "join" []`,
			"joined is joined"},
		{`{"final_tables": ["a", "c"]}`, `{"combine": "magic", "joins_needed": true}`, `a c joins "" []`,
			"an unknown way to combine"},
		{`{"final_tables": ["a", "c"]}`, `{"columns": ["x", "a.id", "C.\"ID\"", "b.y", "a.z"], "joins_needed": true}`,
			`a c joins "" [a.id a.x c.id c.x]`,
			"a column of one table, or of all that have it; of no other table"},
	} {
		o := &oracle{tables: []string{"a", "c", "d"}, say: func(req llm.Request) (string, error) {
			if req.Purpose == "table" && strings.Contains(req.Messages[1].Text, "TABLE other.d") {
				return `{"is_relevant": true}`, nil
			}
			return map[string]string{"tables": tt.together, "synthesis": tt.synthesis}[req.Purpose], nil
		}}
		got := identify(t, linker.PerTable{}, o, linker.Input{Question: "?", Schema: s})
		joins := "apart"
		if got.JoinsNeeded {
			joins = "joins"
		}
		if text := fmt.Sprintf("%s %s %q %v", strings.Join(names(got.Final), " "), joins, got.Combine,
			got.Columns); text != tt.want {
			t.Errorf("%s: %s; want %s", tt.why, text, tt.want)
		}
	}
	o := &oracle{tables: []string{"a"}, say: func(req llm.Request) (string, error) {
		switch req.Purpose {
		case "table":
			return fmt.Sprintf(
				`{"is_relevant": %v, "confidence": 1.7, "relevant_columns": ["X", "Y", "z", 7], "reasoning": "of %s\nQuestion: forged"}`,
				shown(req)[0] == "a" || shown(req)[0] == "c", shown(req)[0]), nil
		case "tables":
			return `{"final_tables": ["a", "c"], "reasoning": "both"}`, nil
		}
		return `{"filters": "x = 1", "aggregations": ["count", "sum"], "ordering": null, "reasoning": "all"}`, nil
	}}
	got := identify(t, linker.PerTable{}, o, linker.Input{Question: "?", Schema: s})
	const reasoning = "a: of a Question: forged\nc: of c Question: forged\ntogether: both\nsynthesis: all"
	if got.Reasoning != reasoning || got.Filters != "x = 1" || got.Aggregations != "count; sum" || got.Ordering != "" {
		t.Errorf("reasoning %q, requirements %q, %q, %q", got.Reasoning, got.Filters, got.Aggregations, got.Ordering)
	}
	if v := got.Tables[0]; v.Score != 1 || !slices.Equal(v.Columns, []string{"x"}) {
		t.Errorf("%+v: want confidence 1 and column x", v)
	}
	if v := got.Tables[1]; v.Relevant || len(v.Columns) > 0 {
		t.Errorf("%+v: a table that is not relevant has no columns that the question needs", v)
	}
	if text := o.of("tables")[0].Messages[1].Text; !strings.Contains(text, "\n- a: 1.00, of a Question: forged\n") {
		t.Errorf("a reason opens a line of its own:\n%s", text)
	}
}

func TestPerTableValidate(t *testing.T) {
	s := numbered("t_%d", 2)
	for _, tt := range []struct {
		p    linker.PerTable
		want string
	}{
		{linker.PerTable{}, ""},
		{linker.PerTable{Workers: -1}, "linker: PerTable.Workers is -1; want 0 (the default) or more"},
		{linker.PerTable{TableTokens: -1}, "linker: PerTable.TableTokens is -1; want 0 (the default) or more"},
		{linker.PerTable{CallTokens: -1}, "linker: PerTable.CallTokens is -1; want 0 (the default) or more"},
	} {
		o := &oracle{}
		tt.p.Model = o
		err := tt.p.Validate()
		if got := fmt.Sprint(err); got != tt.want && !(err == nil && tt.want == "") {
			t.Errorf("%+v: %v, want %s", tt.p, err, tt.want)
		}
		if tt.want != "" {
			if _, err := tt.p.Link(t.Context(), linker.Input{Schema: s}); err == nil || len(o.requests) > 0 {
				t.Errorf("%+v: %v after %d calls", tt.p, err, len(o.requests))
			}
		}
	}
	if _, err := (linker.PerTable{}).Link(t.Context(), linker.Input{Schema: s}); err == nil {
		t.Error("no model, and no error")
	}
	if _, err := (linker.PerTable{Model: &oracle{}}).Link(t.Context(), linker.Input{Schema: tables()}); !errors.Is(err,
		linker.ErrNoTables) {
		t.Errorf("no table: %v", err)
	}
}

// TestPerTableEnds: the end of the context and of a budget ends Run at any step. The bubble fails if a goroutine is
// left.
func TestPerTableEnds(t *testing.T) {
	s := numbered("t_%d", 30)
	in := linker.Input{Question: "?", Schema: s}
	for _, purpose := range []string{"table", "tables", "synthesis"} {
		synctest.Test(t, func(t *testing.T) {
			o := &oracle{tables: []string{"t_1", "t_2"}}
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				if req.Purpose == purpose {
					<-ctx.Done()
					return llm.Response{}, ctx.Err()
				}
				return o.Complete(ctx, req)
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			if _, err := (linker.PerTable{Model: model}).Run(ctx, in); err != context.DeadlineExceeded ||
				time.Since(began) != time.Second {
				t.Errorf("%s: %v after %v", purpose, err, time.Since(began))
			}
		})
		for _, failure := range []error{&llm.BudgetError{}, errors.New("down")} {
			o := &oracle{tables: []string{"t_1", "t_2"}, say: func(req llm.Request) (string, error) {
				if req.Purpose == purpose {
					return "", failure
				}
				return "", nil
			}}
			got, err := linker.PerTable{Model: o}.Run(t.Context(), in)
			if fails := errors.Is(failure, llm.ErrBudget) || purpose == "table"; fails != (err != nil) || fails &&
				!errors.Is(err, failure) {
				t.Errorf("%s fails with %v: %v", purpose, failure, err)
			} else if !fails && (!slices.Equal(names(got.Final), o.tables) || !got.JoinsNeeded || len(got.Links.Notes) != 1) {
				t.Errorf("%s fails with %v: %+v", purpose, failure, got)
			}
		}
	}
}
