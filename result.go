package texttosql

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Result is what is known about one answer.
//
// As JSON it leaves rows out, and the trace shows what WithPrivate allows; see
// MarshalWithRows.
type Result struct {
	Question   string                 `json:"question"`             // as it was asked
	SQL        string                 `json:"sql"`                  // one checked, reading statement; "" when there is none
	Rows       *result.Table          `json:"-"`                    // nil from Generate, and when the statement was not run
	Confidence float64                `json:"confidence"`           // 0..1; see vote.Ballot and the strategy
	Ballot     vote.Ballot            `json:"ballot"`               // how the votes fell
	Candidates []vote.Candidate       `json:"candidates,omitempty"` // in draw order
	Links      schema.Links           `json:"links,omitzero"`       // what was linked; zero: the whole schema
	Phases     []strategy.PhaseReport `json:"phases,omitempty"`     // of a strategy that decides in phases
	Rounds     *strategy.Rounds       `json:"rounds,omitempty"`     // of strategy.PETSQL
	Fallback   string                 `json:"fallback,omitempty"`   // why another method had to answer; "": none had to
	Saved      int                    `json:"saved,omitempty"`      // draws that an early stop made unnecessary
	Notes      []string               `json:"notes,omitempty"`      // decisions in words
	Usage      llm.Usage              `json:"usage"`                // of all model calls, cancelled ones included
	Warnings   []trace.Warning        `json:"warnings,omitempty"`   // what the person who asked should know
	Trace      *trace.Span            `json:"trace,omitempty"`      // what was done, and why
}

// MarshalWithRows is the JSON form of r with its rows under "rows".
func (r *Result) MarshalWithRows() ([]byte, error) {
	type plain Result
	return json.Marshal(struct {
		*plain
		Rows *result.Table `json:"rows,omitempty"`
	}{(*plain)(r), r.Rows})
}

// WritePage writes one self-contained HTML page about r: the question, the
// statement, how the votes fell and a timeline. It holds SQL, and rows only when
// they are asked for. err is what Ask returned beside r.
func (r *Result) WritePage(w io.Writer, err error, withRows bool) error {
	page := trace.Page{
		Question: r.Question, SQL: r.SQL, Root: r.Trace, Show: trace.PrivateSQL,
	}
	if err != nil {
		page.Problem = err.Error()
	}
	if len(r.Ballot.Clusters)+len(r.Ballot.Abstained) > 0 {
		page.Facts = append(page.Facts, trace.Fact{
			Name: "Confidence", Value: fmt.Sprintf("%.2f", r.Confidence), Share: r.Confidence,
		})
		page.Sections = append(page.Sections, r.votes())
	}
	if r.Rows != nil {
		count := fmt.Sprint(len(r.Rows.Rows))
		if r.Rows.Truncated {
			count = "more than " + count
		}
		page.Facts = append(page.Facts, trace.Fact{Name: "Rows", Value: count})
		if withRows {
			page.Sections = append(page.Sections, head(r.Rows))
		}
	}
	if len(r.Notes) > 0 {
		notes := trace.Section{Title: "Decisions", Columns: []string{""}}
		for _, n := range r.Notes {
			notes.Rows = append(notes.Rows, []string{n})
		}
		page.Sections = append(page.Sections, notes)
	}
	return page.WriteHTML(w)
}

// votes shows the ballot.
func (r *Result) votes() trace.Section {
	s := trace.Section{Title: "Votes", Note: r.Ballot.Explain()}
	for i, c := range r.Ballot.Clusters {
		label := fmt.Sprintf("Cluster %d", i+1)
		if c.Best >= 0 && c.Best < len(r.Candidates) {
			best := r.Candidates[c.Best]
			switch {
			case best.Empty:
				label += ", no rows"
			case best.Fingerprint != "":
				label += ", " + count(best.Rows, "row") + " of " + count(best.Columns, "column")
			}
		}
		s.Bars = append(s.Bars, trace.Bar{
			Label: label, Share: c.Share, Text: fmt.Sprintf("%d of %d", len(c.Members), r.Ballot.Drawn),
			Detail: c.SQL, Lead: i == 0,
		})
	}
	if len(r.Ballot.Abstained) > 0 {
		s.Columns = []string{"Draw", "Had no vote because"}
		for _, a := range r.Ballot.Abstained {
			draw := a.Candidate
			if draw >= 0 && draw < len(r.Candidates) {
				draw = r.Candidates[draw].Draw
			}
			s.Rows = append(s.Rows, []string{fmt.Sprint(draw), a.Why})
		}
	}
	return s
}

// count is n things, in words.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// pageRows is how many rows a page shows.
const pageRows = 50

func head(t *result.Table) trace.Section {
	s := trace.Section{Title: "Result", Columns: t.Columns}
	if len(t.Rows) > pageRows {
		s.Note = fmt.Sprintf("the first %d of %d rows", pageRows, len(t.Rows))
	}
	for _, row := range t.Rows[:min(pageRows, len(t.Rows))] {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = cell(v)
		}
		s.Rows = append(s.Rows, cells)
	}
	return s
}

// cell is a value as a page shows it.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf("%d bytes", len(v))
	case float64:
		// In all its digits, where they are few: money is read without exponents.
		if a := math.Abs(v); a == 0 || a >= 1e-6 && a < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return fmt.Sprint(v)
	default:
		return fmt.Sprint(v)
	}
}
