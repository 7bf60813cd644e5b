package docstest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// TestDocsShowCompiledCode holds every Go block of the README and of docs/ that is a part of a program against the code
// of this package's tests and of examples: the lines of a block stand in one of its files, in the same order.
func TestDocsShowCompiledCode(t *testing.T) {
	var sources []string
	for _, name := range []string{
		"internal/docstest/readme_test.go", "internal/docstest/docs_test.go", "internal/docstest/guide_test.go",
		"internal/docstest/pages_test.go",
		"strategy/strategy.go", "exec/exectest/example_test.go", "llm/openai/example_test.go",
		"examples/guard/main.go", "examples/guard/server.go",
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, folded(string(text)))
	}
	for _, name := range append(pages(t), "README.md") {
		for i, block := range blocks(t, name, "go") {
			if !isProgram(block) && !slices.ContainsFunc(sources, func(source string) bool { return hasLines(source, block) }) {
				t.Errorf("%s: no example compiles block %d:\n%s", name, i+1, block)
			}
		}
	}
}

// hasLines reports whether the lines of block stand in source, in the same order.
func hasLines(source, block string) bool {
	for line := range strings.Lines(block) {
		_, after, found := strings.Cut(source, folded(line))
		if !found {
			return false
		}
		source = after
	}
	return true
}

// anchors returns what links to the headings of a document are called, in order.
func anchors(t *testing.T, name string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
			list = append(list, strings.Map(func(r rune) rune {
				switch {
				case r == ' ':
					return '-'
				case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
					return unicode.ToLower(r)
				}
				return -1
			}, strings.TrimSpace(heading)))
		}
	}
	return list
}

// TestKnowledgePage is the program of docs/knowledge.md.
func TestKnowledgePage(t *testing.T) {
	page, err := os.ReadFile("docs/knowledge.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	text, _, _ := strings.Cut(rest, "```")
	pool := open(t, `CREATE TABLE customers (id INTEGER, country TEXT);
CREATE TABLE orders (id INTEGER, customer_id INTEGER, total REAL, status TEXT, ordered_at TEXT);
INSERT INTO customers VALUES (1, 'NO'); INSERT INTO orders VALUES (1, 1, 5, 'paid', '2026-01-01'), (2, 1, 7, 'cancelled', '2026-01-01')`)
	model := llm.Func(func(_ context.Context, r llm.Request) (llm.Response, error) {
		if r.Purpose == "metric" {
			return llm.Response{Text: `{"metrics": ["revenue"], "group_by": ["customers.country"]}`}, nil
		}
		return llm.Response{Text: "SELECT country, 5.0 FROM customers"}, nil
	})
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		t.Fatal(err)
	}
	program := func(ctx context.Context, file io.Reader) error {
		m, err := knowledge.Read(file) // or dbt.Read, ossie.Read, snowflake.Read, wren.Read
		if err != nil {
			return err
		}
		faults, err := m.Check(ctx, db, "sqlite") // db is an *exec.DB
		if err != nil {
			return err
		}
		engine, err := texttosql.New(pool, model, texttosql.WithKnowledge(m.Without(faults)))
		if err != nil {
			return err
		}
		answer, err := engine.Ask(ctx, "What is the turnover by country?")
		if err != nil {
			return err
		}
		fmt.Println(answer.Grounds) // [by metric revenue]
		if len(faults) > 0 || fmt.Sprint(answer.Grounds, answer.Rows.Rows) != "[by metric revenue] [[NO 5]]" {
			t.Errorf("%v, %v, %v", faults, answer.Grounds, answer.Rows.Rows)
		}
		return nil
	}
	if err := program(t.Context(), strings.NewReader(text)); err != nil {
		t.Error(err)
	}
}

// TestGuideContents: the contents list of the guide has its numbered chapters.
func TestGuideContents(t *testing.T) {
	text, err := os.ReadFile("docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, anchor := range anchors(t, "docs/guide.md") {
		if unicode.IsDigit(rune(anchor[0])) && !strings.Contains(string(text), "(#"+anchor+")") {
			t.Errorf("the contents list has no %s", anchor)
		}
	}
}

// TestDocsLinkToFiles follows every relative link of the documents.
func TestDocsLinkToFiles(t *testing.T) {
	for _, name := range append(pages(t), "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "](")[1:] {
			target, _, _ := strings.Cut(part, ")")
			file, anchor, _ := strings.Cut(target, "#")
			if strings.Contains(file, "://") {
				continue
			}
			linked := name
			if file != "" {
				linked = filepath.Join(filepath.Dir(name), file)
			}
			_, err := os.Stat(linked)
			if err != nil || anchor != "" && !slices.Contains(anchors(t, linked), anchor) {
				t.Errorf("%s links to %s, which is not there", name, target)
			}
		}
	}
}

// TestMap: docs/README.md has a link to every page, docs/benchmarks.md to every page of figures, and the list of the
// site has the former.
func TestMap(t *testing.T) {
	index := string(testutil.Value(os.ReadFile("docs/README.md"))(t)) +
		string(testutil.Value(os.ReadFile("docs/benchmarks.md"))(t))
	site := string(testutil.Value(os.ReadFile(".ci/site/mkdocs.yml"))(t))
	for _, name := range pages(t) {
		page := strings.TrimPrefix(name, "docs/")
		if page != "README.md" && !strings.Contains(index, "("+page+")") {
			t.Errorf("docs/README.md and docs/benchmarks.md have no link to %s", page)
		}
		if !strings.HasPrefix(page, "lab/") && !strings.Contains(site, "- "+page+"\n") {
			t.Errorf(".ci/site/mkdocs.yml does not have %s", page)
		}
	}
}

// TestTroubleshooting: the page has every class that asks for something to be done, with its message as it is printed.
func TestTroubleshooting(t *testing.T) {
	page := string(testutil.Value(os.ReadFile("docs/troubleshooting.md"))(t))
	for _, err := range []error{
		llm.ErrBudget, context.DeadlineExceeded, exec.ErrBusy, session.ErrStale,
		&llm.Error{Class: llm.ClassPermanent, Status: http.StatusUnauthorized}, &llm.Error{Class: llm.ClassRateLimit},
		&llm.Error{Class: llm.ClassOverloaded}, &llm.Error{Class: llm.ClassContextTooLong},
		&llm.Error{Class: llm.ClassRefused},
	} {
		failed := failure.Of(err)
		message, _, _ := strings.Cut(strings.TrimSuffix(failed.Message, "."), ": ") // behind it stand a provider's words
		if !strings.Contains(page, "| `"+string(failed.Class)+"` | "+message) {
			t.Errorf("the page has no row %q with %q", failed.Class, failed.Message)
		}
	}
}

type report struct {
	Drafts int `json:"drafts"`
}

func (report) Method() string { return "careful" }

// TestWritingAStrategy runs the strategies of docs/writing-a-strategy.md.
func TestWritingAStrategy(t *testing.T) {
	db, model := open(t, shop), always("```sql\n"+usa+"\n```")
	one := strategy.Func(func(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
		messages, err := strategy.Prompt{}.Prompt(ctx, env, strategy.PromptInput{Task: t, Schema: env.Schema})
		if err != nil {
			return nil, err
		}
		model, name := env.Model(0)
		reply, err := model.Complete(ctx, strategy.Sampler{}.Request(env, 0, messages))
		if err != nil {
			return nil, err
		}
		examiner := strategy.NewChecker(ctx, env, t, nil, nil)
		defer examiner.Close()
		c, err := examiner.Examine(ctx, 0, name, reply)
		return &strategy.Outcome{SQL: c.SQL, Confidence: 0.5, Candidates: []vote.Candidate{c}}, err
	})
	engine, err := texttosql.New(db, model, texttosql.WithStrategy(one))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := engine.Ask(t.Context(), "Which customers live in the USA?")
	if err != nil || answer.SQL != usa {
		t.Fatal(answer, err)
	}
	voting := strategy.Pipeline{
		Sampler: strategy.Sampler{Samples: 9, Temperature: 0.7, Stop: vote.Decided},
		Voter:   vote.Majority{},
	}
	noStar := exec.CheckFunc(func(ctx context.Context, s *exec.Runner, c *exec.Checked) error {
		if c.Statement.Outline().Star {
			return &exec.InvalidError{Fault: "compile", Message: "name the columns instead of *"}
		}
		return nil
	})
	careful := strategy.Pipeline{
		Linker:   linker.Union{linker.Lexical{}, linker.Values{Choose: true}},
		Prompter: strategy.RotatePrompts{strategy.Prompt{Form: schema.MSchema}, strategy.Prompt{Reasoning: true}},
		Sampler:  strategy.Sampler{Samples: 9, Temperature: 0.8, FirstGreedy: true, Stop: vote.Decided},
		Checks:   append(exec.DefaultChecks(), noStar),
		Doubts:   &doubt.Rules{},
		Refine:   &strategy.Refine{Decisive: true},
		Voter:    vote.Majority{Penalty: 1, MaxDoubt: doubt.Rules{}.Spread()},
		Judge:    strategy.Rubric{}, JudgeBelow: 0.8,
	}
	fiscal := strategy.PrompterFunc(func(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message,
		error) {
		in.Sections = append(in.Sections, "### Fiscal year\nIt begins in July.")
		return strategy.Prompt{Steps: strategy.PlanFirst}.Prompt(ctx, env, in)
	})
	for _, s := range []strategy.Strategy{voting, careful, strategy.Pipeline{Prompter: fiscal}} {
		answer, err := engineOn(t, db, model, s).Ask(t.Context(), "Which customers live in the USA?")
		if err != nil || answer.SQL != usa || answer.Usage.Calls >= 9 {
			t.Errorf("got %+v, %v", answer, err)
		}
	}
	star := always("SELECT * FROM customers")
	if _, err := engineOn(t, db, star, careful).Ask(t.Context(), "Which customers live in the USA?"); !errors.Is(err,
		strategy.ErrNoCandidate) {
		t.Errorf("a statement that fails the check was answered: %v", err)
	}
	elected := strategy.Func(func(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
		messages := []llm.Message{{Role: llm.User, Text: t.Section()}}
		sampled, err := strategy.Election[string]{
			N: 9, Stop: vote.Decided,
			Sample: func(ctx context.Context, i int) (string, error) {
				reply, err := env.Send(ctx, i%len(env.Models), strategy.Sampler{Temperature: 0.7}.Request(env, i, messages))
				return reply.Answer(), err
			},
			Key: func(answer string) (string, bool) { return strings.ToLower(answer), answer != "" },
		}.Run(ctx)
		if err != nil {
			return nil, err
		}
		return &strategy.Outcome{SQL: usa, Confidence: 0.5, Notes: []string{fmt.Sprint(sampled.Votes(), " votes")}}, nil
	})
	answer, err = engineOn(t, db, model, elected).Ask(t.Context(), "Which customers live in the USA?")
	if err != nil || !slices.Contains(answer.Notes, "5 votes") {
		t.Errorf("got %+v, %v", answer, err)
	}

	told, err := strategy.ReadReport[report](report{Drafts: 2})
	if err != nil || told.Drafts != 2 {
		t.Error(told, err)
	}
}

func engineOn(tb testing.TB, db *sql.DB, model llm.Model, s strategy.Strategy) *texttosql.Engine {
	tb.Helper()
	e, err := texttosql.New(db, model, texttosql.WithStrategy(s))
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// fewSamples is the strategy that docs/strategies.md shows for a reasoning model.
func fewSamples() texttosql.Option {
	return texttosql.WithStrategy(strategy.Pipeline{
		Sampler: strategy.Sampler{Samples: 3, Stop: vote.Decided, Effort: "low"},
		Voter:   vote.Majority{Prior: 1},
		Refine:  &strategy.Refine{},
	})
}
