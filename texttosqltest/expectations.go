package texttosqltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
)

// Expectation is a question with the expected properties of its answer.
type Expectation struct {
	Question string `json:"question"` // required
	Evidence string `json:"evidence"`

	Rows   [][]any  `json:"rows"`   // the rows, in any order; floats to nine digits
	SQL    string   `json:"sql"`    // a statement with the same rows, in any order; it runs under the guard too
	Reads  []string `json:"reads"`  // exactly the tables that the statement reads, in any letter case
	Metric string   `json:"metric"` // a metric that the answer uses
	// Asks and Refuses expect an error. With Asks the engine must ask the user, with Refuses it must refuse the
	// question. It refuses if the data cannot answer, the question would change data, the policy denies it, no
	// statement passed the checks, or the answer is unsure.
	Asks    bool   `json:"asks"`
	Refuses bool   `json:"refuses"`
	Within  string `json:"within"` // the longest time that the answer may take: "2s"
	Calls   *int   `json:"calls"`  // most model calls; 0: an answer without a model
}

// ReadExpectations reads a file of expectations, a JSON object on each line. A key that Expectation does not have, a
// line without a question and an unreadable duration are errors, with the number of the line.
func ReadExpectations(path string) ([]Expectation, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("texttosqltest: %w", err)
	}
	var list []Expectation
	n := 0
	for line := range bytes.Lines(text) {
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var x Expectation
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		d.UseNumber()
		err := d.Decode(&x)
		if err == nil {
			err = x.valid()
		}
		if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
			err = errors.New("something follows the object")
		}
		if err != nil {
			return nil, fmt.Errorf("texttosqltest: %s, line %d: %w", path, n, err)
		}
		list = append(list, x)
	}
	return list, nil
}

func (x *Expectation) valid() error {
	if strings.TrimSpace(x.Question) == "" {
		return errors.New("there is no question")
	}
	if x.Asks && x.Refuses {
		return errors.New("it cannot both ask and refuse")
	}
	if x.Within != "" {
		_, err := time.ParseDuration(x.Within)
		return err
	}
	return nil
}

// Run asks every question of a file, each in a subtest with its name, one after the other. A failure names the unmet
// expectations, the statement and its grounds.
func Run(t *testing.T, e *texttosql.Engine, path string) {
	t.Helper()
	list, err := ReadExpectations(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatalf("texttosqltest: %s has no question", path)
	}
	for _, x := range list {
		t.Run(x.Question, func(t *testing.T) {
			for _, drift := range x.Check(t.Context(), e) {
				t.Error(drift)
			}
		})
	}
}

// Check asks the question once and returns one line for each unmet expectation; nil: all are met. If there is a
// statement, the last line has it with its grounds.
func (x Expectation) Check(ctx context.Context, e *texttosql.Engine) (drift []string) {
	start := time.Now()
	res, err := e.Ask(ctx, x.Question, texttosql.WithEvidence(x.Evidence))
	took := time.Since(start)
	say := func(format string, args ...any) { drift = append(drift, fmt.Sprintf(format, args...)) }
	if within, _ := time.ParseDuration(x.Within); within > 0 && took > within {
		say("it took %v, more than %v", took.Round(time.Millisecond), within)
	}
	if res != nil && x.Calls != nil && res.Usage.Calls > *x.Calls {
		say("it took %d model calls, more than %d", res.Usage.Calls, *x.Calls)
	}
	switch asks := errors.As(err, new(*session.QuestionError)); {
	case x.Asks && !asks:
		say("it does not ask: %s", outcome(err))
	case x.Refuses && !refusals[failure.Of(err).Class]:
		say("it does not refuse: %s", outcome(err))
	case x.Asks, x.Refuses:
	case err != nil:
		say("there is no answer: %s", outcome(err))
	default:
		drift = append(drift, x.answer(ctx, e, res)...)
	}
	if len(drift) > 0 && res != nil && res.SQL != "" {
		say("the statement is %s%s", res.SQL, grounds(res.Grounds))
	}
	return drift
}

// refusals are the classes of failures that say that a question is refused.
var refusals = map[failure.Class]bool{
	failure.Unanswerable: true, failure.Unsure: true, failure.Refused: true, failure.Invalid: true, failure.NoAnswer: true,
}

// outcome is what came instead, in words.
func outcome(err error) string {
	if err == nil {
		return "it answers"
	}
	f := failure.Of(err)
	return fmt.Sprintf("%s (%s)", f.Message, f.Class)
}

func grounds(list []knowledge.Provenance) string {
	text := ""
	for _, g := range list {
		text += ", " + g.String()
	}
	return text
}

// answer holds an answer against what is expected of it.
func (x *Expectation) answer(ctx context.Context, e *texttosql.Engine, res *texttosql.Result) (drift []string) {
	if res.Rows == nil && (x.Rows != nil || x.SQL != "") {
		return []string{"there are no rows to compare: the engine runs no statement"}
	}
	if x.Rows != nil {
		want := tableOf(x.Rows, len(res.Rows.Columns))
		if got := res.Rows.Plain(); !rowsAre.Equal(got, want) {
			drift = append(drift, fmt.Sprintf("the rows are %v, want %v", preview(got), preview(want)))
		}
	}
	if x.SQL != "" {
		switch want, err := e.Query(ctx, x.SQL); {
		case err != nil:
			drift = append(drift, fmt.Sprintf("the expected statement does not run: %v", err))
		case !rowsAre.Equal(res.Rows, want):
			drift = append(drift, fmt.Sprintf("the rows are %v, want those of the statement, %v", preview(res.Rows),
				preview(want)))
		}
	}
	byMetric := func(g knowledge.Provenance) bool { return g.Kind == "metric" && g.Name == x.Metric }
	if x.Metric != "" && !slices.ContainsFunc(res.Grounds, byMetric) {
		drift = append(drift, fmt.Sprintf("it does not stand on the metric %s", x.Metric))
	}
	if x.Reads != nil {
		drift = append(drift, x.reads(ctx, e, res.SQL)...)
	}
	return drift
}

// reads holds the tables of a statement against those that are expected.
func (x *Expectation) reads(ctx context.Context, e *texttosql.Engine, sql string) []string {
	checked, err := e.Check(ctx, sql)
	if err != nil {
		return []string{fmt.Sprintf("what it reads cannot be told: %v", err)}
	}
	var got, want []string
	for _, t := range checked.Statement.Tables() {
		if t.Base() {
			got = append(got, strings.ToLower(t.Name))
		}
	}
	for _, name := range x.Reads {
		want = append(want, strings.ToLower(name))
	}
	slices.Sort(got)
	slices.Sort(want)
	if got, want = slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
		return []string{fmt.Sprintf("it reads %s, want %s", strings.Join(got, ", "), strings.Join(want, ", "))}
	}
	return nil
}

// rowsAre is when rows are as expected.
var rowsAre = result.Equality{Digits: 9}

// tableOf makes a table of rows from JSON, of so many columns.
func tableOf(rows [][]any, columns int) *result.Table {
	t := &result.Table{Columns: make([]string, columns)}
	for _, row := range rows {
		t.Columns = make([]string, len(row))
		cells := make([]any, len(row))
		for i, v := range row {
			cells[i] = v
			if n, ok := v.(json.Number); ok {
				cells[i] = number(n)
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// number is a whole number where it is one, else a float.
func number(n json.Number) any {
	if whole, err := n.Int64(); err == nil {
		return whole
	}
	f, _ := n.Float64()
	return f
}

// preview is the first rows of a table.
func preview(t *result.Table) string { return fmt.Sprint(t.Preview(5, 40)) }
