package recorded_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// TestCosts prints the calls and tokens of a question about superheroes, on the ten tables of the database and on 200,
// beside those of Consensus. Statements are recorded, one of each of twelve systems; what was not recorded (tables, joins,
// corrections) a model answers that knows the gold.
func TestCosts(t *testing.T) {
	pool, err := folder(t).Pool("bird_dev/all")
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range []*strategy.Env{envOf(t, database(t, "superhero")), wide(t, 200)} {
		profiled, err := env.DB.Profile(t.Context(), env.Schema, exec.ProfileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		env.Host.Profile = func(context.Context) (*schema.Schema, error) { return profiled, nil }
		env.Host.Texts = &strategy.TextCache{}
		tables := len(env.Schema.Tables)
		for _, method := range []struct {
			name     string
			strategy strategy.Strategy
			most     int // calls
		}{
			{"threephase", threephase.Strategy{OnAmbiguity: threephase.PickTop}, tables + 2 + 3},
			{"consensus", strategy.Consensus{}, 12 + 2 + 2},
		} {
			var calls, prompt, completion, most, largest, answered int
			for i, q := range pool.Questions {
				m := &knowing{question: q, answers: pool.Answers[i], env: env}
				out, err := method.strategy.Generate(t.Context(), asking(env, m), strategy.Task{Question: q.Text, Evidence: q.Evidence})
				if err == nil && out.SQL != "" {
					answered++
				}
				calls, prompt, completion, most, largest = calls+m.calls, prompt+m.prompt, completion+m.completion, max(most, m.calls), max(largest, m.largest)
			}
			n := float64(len(pool.Questions))
			t.Logf("%3d tables, %-10s: %5.1f calls (most %3d), %7.0f prompt tokens (largest %5d), %5.0f of replies; %d of %.0f answered", tables, method.name,
				float64(calls)/n, most, float64(prompt)/n, largest, float64(completion)/n, answered, n)
			if most > method.most {
				t.Errorf("%s, %d tables: %d calls for a question, want at most %d", method.name, tables, most, method.most)
			}
			if method.name == "threephase" && (largest > 4000 || answered != len(pool.Questions)) {
				t.Errorf("the largest prompt has %d tokens; %d of %.0f answered", largest, answered, n)
			}
		}
	}
}

// knowing is a model for one question: it knows which tables the gold reads, has the recorded statements, and corrects
// with the gold.
type knowing struct {
	question eval.Question
	answers  []eval.Answer
	env      *strategy.Env

	once  sync.Once
	gold  []string
	mu    sync.Mutex
	calls int

	prompt, completion, largest int // tokens
}

func (k *knowing) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	k.once.Do(func() {
		if a, err := k.env.DB.Analyze(ctx, k.question.Gold); err == nil {
			for _, read := range a.TablesOf(k.env.Schema) {
				k.gold = append(k.gold, read.Table)
			}
		}
	})
	text := req.Messages[len(req.Messages)-1].Text
	reply := ""
	switch req.Purpose {
	case "table":
		relevant := slices.ContainsFunc(k.gold, func(name string) bool { return strings.Contains(text, "CREATE TABLE "+name+" (") })
		reply = asJSON(map[string]any{"is_relevant": relevant, "confidence": 0.9, "relevant_columns": []string{}, "reasoning": "as the gold reads it"})
	case "tables":
		reply = asJSON(map[string]any{"final_tables": k.gold, "removed_tables": []string{}, "reasoning": "as the gold reads them"})
	case "synthesis":
		reply = asJSON(map[string]any{"joins_needed": len(k.gold) > 1, "filters": nil, "aggregations": nil, "ordering": nil})
	case "join":
		reply = `{"found_joins": true, "joins": [{"left_column": "superhero.eye_colour_id", "right_column": "colour.id", "confidence": 0.9}]}`
	case strategy.PurposeGenerate:
		reply = "```sql\n" + k.answers[req.Sample%12].SQL + "\n```"
	case strategy.PurposeRepair:
		reply = "```sql\n" + k.question.Gold + "\n```"
	default:
		reply = "A"
	}
	used := llm.Estimate(req, reply)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls, k.prompt, k.completion, k.largest = k.calls+1, k.prompt+used.PromptTokens, k.completion+used.CompletionTokens, max(k.largest, used.PromptTokens)
	return llm.Response{Text: reply, StopReason: llm.StopEnd, Usage: used}, nil
}

// wide is the database of superheroes with tables of other databases beside its own, empty ones, so many in all.
func wide(t *testing.T, tables int) *strategy.Env {
	t.Helper()
	raw, err := os.ReadFile(evaldata.Path(t, "db", "bird", "superhero.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "wide.sqlite")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	pool, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	others, err := filepath.Glob(evaldata.Path(t, "db", "spider", "*.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	left := tables - 10
	for round := 0; left > 0; round++ {
		for _, file := range others {
			name := strings.TrimSuffix(filepath.Base(file), ".sqlite")
			s := envOf(t, openAt(t, file, exec.Config{})).Schema
			for _, table := range s.Tables {
				if left == 0 {
					break
				}
				left--
				var columns []string
				for _, c := range table.Columns {
					columns = append(columns, schema.QuoteName(c.Name)+" "+c.Type)
				}
				if _, err := pool.Exec(fmt.Sprintf(`CREATE TABLE "%s_%s_%d" (%s)`, name, table.Name, 2020+round, strings.Join(columns, ", "))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return envOf(t, newDB(t, pool, exec.Config{}))
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
