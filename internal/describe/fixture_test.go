package describe_test

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/describe"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
)

// writer is a model that writes a sentence for every column it is asked about, and knows what it was asked.
type writer struct {
	reply func(call int, table string, columns []string) (string, error) // nil: a sentence each

	mu    sync.Mutex
	asked []string // "table: column column …"
	reqs  []llm.Request
}

// asks finds the table and the columns in a prompt.
var asks = regexp.MustCompile(`(?s)^### Table\n([^\n;]*).*### Columns to describe\n(.*)$`)

// name finds a name at the start of a line.
var name = regexp.MustCompile(`^("(?:[^"]|"")*"|[^ ;"]+)`)

func (w *writer) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if ctx.Err() != nil {
		return llm.Response{}, ctx.Err()
	}
	parts := asks.FindStringSubmatch(req.Messages[1].Text)
	var columns []string
	for line := range strings.Lines(parts[2]) {
		column := name.FindString(strings.TrimSuffix(line, "\n"))
		if strings.HasPrefix(column, `"`) {
			column = strings.ReplaceAll(column[1:len(column)-1], `""`, `"`)
		}
		columns = append(columns, column)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, parts[1]+": "+strings.Join(columns, " "))
	w.reqs = append(w.reqs, req)
	if w.reply != nil {
		text, err := w.reply(len(w.asked), parts[1], columns)
		return llm.Response{Text: text, StopReason: llm.StopEnd}, err
	}
	return llm.Response{Text: sentences(columns...), StopReason: llm.StopEnd}, nil
}

// sentences is a reply about columns.
func sentences(columns ...string) string {
	reply := map[string]string{}
	for _, column := range columns {
		reply[column] = "What " + column + " means."
	}
	text, err := json.Marshal(reply)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// take returns what was asked since the last call of take.
func (w *writer) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	return asked
}

// dbOf is a guarded database that script makes.
func dbOf(tb testing.TB, script string, policy exec.Policy) *exec.DB {
	tb.Helper()
	db := testutil.Value(exec.New(strategytest.PoolOf(tb, script), sqlite.Dialect{}, exec.Config{Policy: policy}))(tb)
	return db
}

// run describes a database, which must not fail.
func run(tb testing.TB, c describe.Columns, db *exec.DB, s *schema.Schema) schema.DescriptionFile {
	tb.Helper()
	f := testutil.Value(c.Describe(tb.Context(), db, s))(tb)
	return f
}

// texts are the descriptions of a file, "name: text", sorted; a person's in brackets, reasons of failures behind "!".
func texts(f schema.DescriptionFile) []string {
	var all []string
	for name, d := range f.Descriptions {
		if d.Described != "" {
			all = append(all, name+": "+d.Described)
		}
		if d.Text != "" {
			all = append(all, name+": ["+d.Text+"]")
		}
	}
	for name, reason := range f.Failed {
		all = append(all, name+"! "+reason)
	}
	slices.Sort(all)
	return all
}

// edit changes a file as a person's editor does.
func edit(tb testing.TB, path, old, new string) {
	tb.Helper()
	text := testutil.Value(os.ReadFile(path))(tb)
	if !strings.Contains(string(text), old) {
		tb.Fatalf("no %s in\n%s", old, text)
	}
	testutil.OK(tb, os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o600))
}
