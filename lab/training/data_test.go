package training_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/leakguard"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/internal/mysqlite"
	"github.com/texttosql/texttosql/lab/training"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
)

// classicModels are its 200 training pairs, its questions here, and an engine that asks model.
func classicModels(
	t *testing.T, model llm.Model, asked strategy.Strategy, opts ...texttosql.Option,
) (train, test []memory.Exemplar, e *texttosql.Engine, x *training.Exporter) {
	t.Helper()
	for q := range evaldata.Lines[struct{ NLQ, SQL string }](t, evaldata.Path(t, "questions/classicmodels_train.jsonl")) {
		train = append(train, memory.Exemplar{Question: q.NLQ, SQL: q.SQL})
	}
	for q := range evaldata.Lines[struct{ Question, Gold string }](t,
		evaldata.Path(t, "questions/questions_classicmodels.jsonl.gz")) {
		test = append(test, memory.Exemplar{Question: q.Question, SQL: q.Gold})
	}
	db, err := mysqlite.OpenReadOnly(evaldata.Path(t, "db/classicmodels/classicmodels.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	opts = append(opts, texttosql.WithPolicy(mysqlite.Policy()), texttosql.WithClock(nil))
	if e, err = texttosql.New(db, model, append(slices.Clip(opts), texttosql.WithStrategy(asked))...); err != nil {
		t.Fatal(err)
	}
	if x, err = training.NewExporter(t.Context(), db, opts...); err != nil {
		t.Fatal(err)
	}
	return train, test, e, x
}

// TestExportClassicModels holds the export of the 200 pairs against what a scripted model receives from an engine whose
// exemplars are the 200 pairs. The two may differ only where that engine shows a pair that the guard keeps away.
func TestExportClassicModels(t *testing.T) {
	for _, k := range []int{0, 3} {
		var sent []llm.Message
		model := llm.Func(func(_ context.Context, r llm.Request) (llm.Response, error) {
			sent = r.Messages
			return llm.Response{Text: "SELECT 1"}, nil
		})
		train, test, _, _ := classicModels(t, model, strategy.Direct{})
		shown := train
		if k == 0 { // such an engine has none to show
			shown = nil
		}
		_, _, e, x := classicModels(t, model, strategy.Direct{Shots: k}, texttosql.WithSeed(7),
			texttosql.WithMemory(memory.Options{Exemplars: shown}))
		dir := t.TempDir()
		var files []string
		for _, name := range []string{"a", "b"} {
			report, err := x.Export(t.Context(), filepath.Join(dir, name+".jsonl"), train, training.Config{K: k, Against: test})
			if err != nil || report.Manifest.Kept != 200 || len(report.Dropped) > 0 {
				t.Fatalf("K %d: %v, %+v", k, err, report)
			}
			lines, _ := os.ReadFile(filepath.Join(dir, name+".jsonl"))
			manifest, _ := os.ReadFile(filepath.Join(dir, name+".manifest.json"))
			files = append(files, string(lines)+string(manifest))
		}
		if files[0] != files[1] {
			t.Errorf("K %d: two exports differ", k)
		}
		kept := 0 // lines without an exemplar that a run would show
		for i, line := range exported(t, filepath.Join(dir, "a.jsonl")) {
			asked, last := line[:len(line)-1], line[len(line)-1]
			if last.Role != llm.Assistant || !strings.HasPrefix(last.Text, "SELECT") || !strings.HasSuffix(last.Text, ";") {
				t.Errorf("K %d, line %d ends in %+v", k, i+1, last)
			}
			testutil.Value(e.Generate(t.Context(), train[i].Question))(t)
			guard := leakguard.New(sqltext.SQLite(), train[i:i+1])
			shows := func(messages []llm.Message) bool { // a pair that the guard keeps away
				return slices.ContainsFunc(train, func(p memory.Exemplar) bool {
					leak, _ := guard.Find(p)
					return leak != "" && slices.Contains(messages, llm.Message{Role: llm.Assistant, Text: strategy.CodeBlock(p.SQL)})
				})
			}
			if shows(asked) || len(asked) != 2+2*k {
				t.Errorf("K %d, line %d: %d messages; an exemplar gives its answer away: %t", k, i+1, len(asked), shows(asked))
			}
			switch diff := cmp.Diff(sent, asked); {
			case diff == "":
			case shows(sent):
				kept++
			default:
				t.Fatalf("K %d, line %d (-sent +exported):\n%s", k, i+1, diff)
			}
		}
		t.Logf("K %d: the guard replaced exemplars of %d lines", k, kept)
	}
}

// exported reads a file of Exporter.Export.
func exported(t *testing.T, path string) (list [][]llm.Message) {
	t.Helper()
	type message struct {
		Role    string
		Content string
	}
	for l := range evaldata.Lines[struct{ Messages []message }](t, path) {
		var messages []llm.Message
		for _, m := range l.Messages {
			messages = append(messages, llm.Message{Role: m.Role, Text: m.Content})
		}
		list = append(list, messages)
	}
	return list
}

var nobody = llm.Func(func(context.Context, llm.Request) (llm.Response, error) { return llm.Response{}, nil })

// TestExportGuard: pairs made from the questions of the evaluation are dropped, each with the reason that fits.
func TestExportGuard(t *testing.T) {
	train, test, _, e := classicModels(t, nobody, strategy.Direct{})
	upper := func(p memory.Exemplar) memory.Exemplar {
		return memory.Exemplar{Question: "  " + strings.ToUpper(p.Question), SQL: p.SQL}
	}
	figures := regexp.MustCompile(`[0-9]+`)
	other := func(p memory.Exemplar) memory.Exemplar { // other numbers in question and statement
		return memory.Exemplar{Question: figures.ReplaceAllString(p.Question, "77"),
			SQL: figures.ReplaceAllString(p.SQL, "77")}
	}
	said := func(p memory.Exemplar) memory.Exemplar { // another question
		return memory.Exemplar{Question: "I should like to know: " + p.Question, SQL: p.SQL}
	}
	aliases := strings.NewReplacer("c.", "zz.", " c ", " AS zz ", "o.", "yy.", " o ", " yy ", "SELECT", "select", "FROM",
		"from -- x\n")
	renamed := func(p memory.Exemplar) memory.Exemplar {
		p = said(p)
		p.SQL = aliases.Replace(p.SQL)
		return p
	}
	for _, tt := range []struct {
		why    string
		made   func(memory.Exemplar) memory.Exemplar
		reason []string
	}{
		{"verbatim", func(p memory.Exemplar) memory.Exemplar { return p }, []string{"same_question"}},
		{"other case and white space", upper, []string{"same_question"}},
		{"other literals", other, []string{"same_question", "question_template"}},
		{"another question", said, []string{"sql_template"}},
		{"another question, other aliases and case", renamed, []string{"sql_template"}},
	} {
		pairs := slices.Clone(train[:1])
		for _, p := range test {
			pairs = append(pairs, tt.made(p))
		}
		report, err := e.Export(t.Context(), filepath.Join(t.TempDir(), "a.jsonl"), pairs, training.Config{Against: test})
		if err != nil || report.Manifest.Kept != 1 || len(report.Dropped) != len(test) {
			t.Fatalf("%s: %v, %+v", tt.why, err, report.Manifest)
		}
		for i, d := range report.Dropped {
			if !slices.Contains(tt.reason, d.Reason) || d.Line != i+2 {
				t.Errorf("%s: %+v, want one of %q: %+v", tt.why, d, tt.reason, pairs[i+1])
			}
		}
	}
}
