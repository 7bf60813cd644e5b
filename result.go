package texttosql

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Result is what is known about one answer.
//
// SQL is one checked, reading statement, Confidence 0 where there is none, else (the winner's votes + 1) ÷ (all votes +
// abstentions + 2), less for every doubt: see vote.Ballot and its Explain. As JSON a Result leaves rows out, and the
// trace shows what WithReveal allows; see MarshalWithRows. The Report of a Result from JSON is a strategy.RawReport.
type Result struct {
	Question string `json:"question"` // the question as it was asked
	strategy.Outcome
	Rows *result.Table `json:"-"` // nil from Generate, and when the statement was not run
	// Found says in one sentence of English what Rows show, by the rules of meaning.Found; "" where they are silent. WithHeadline
	// has a model write it.
	Found string `json:"-"`
	// Grounds are what the answer stands on: a metric's definition, terms of the question. nil: nothing is known to stand
	// behind it.
	Grounds []knowledge.Ground `json:"grounds,omitempty"`
	// Answerable says whether the data can answer the question, which Confidence does not. It is there after every vote, beside
	// an error too. nil: nothing was sampled.
	Answerable *Answerable     `json:"answerable,omitempty"`
	Usage      llm.Usage       `json:"usage"`              // usage of all model calls, cancelled ones included; recorded replies cost nothing
	Warnings   []trace.Warning `json:"warnings,omitempty"` // what the person who asked should know
	Trace      *trace.Span     `json:"trace,omitempty"`    // what was done, and why
}

// resultVersion is the version of the JSON form of a Result. Version 1, which did not name itself, had what methods
// tell in fields of their own; they are not read.
const resultVersion = 2

// resultJSON is the JSON form of a Result.
type resultJSON struct {
	Version int `json:"version"`
	*resultFields
	Report *strategy.RawReport `json:"report,omitempty"`
	Found  string              `json:"found,omitempty"`
	Rows   *result.Table       `json:"rows,omitempty"`
}

type resultFields Result

// MarshalJSON writes r without its rows.
func (r Result) MarshalJSON() ([]byte, error) { return r.marshal(nil) }

// MarshalWithRows is the JSON form of r with its rows under "rows", and Found under "found".
func (r *Result) MarshalWithRows() ([]byte, error) { return r.marshal(r.Rows) }

func (r *Result) marshal(rows *result.Table) ([]byte, error) {
	j := resultJSON{Version: resultVersion, resultFields: (*resultFields)(r), Rows: rows}
	if rows != nil {
		j.Found = r.Found // it has values of the rows
	}
	switch report := r.Report.(type) {
	case nil:
	case strategy.RawReport:
		j.Report = &report
	default:
		text, err := json.Marshal(report)
		if err != nil {
			return nil, fmt.Errorf("texttosql: writing the report of %s: %w", report.Method(), err)
		}
		j.Report = &strategy.RawReport{Name: report.Method(), JSON: text}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote, of this version or an earlier one.
func (r *Result) UnmarshalJSON(b []byte) error {
	var decoded Result
	j := resultJSON{resultFields: (*resultFields)(&decoded)}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if j.Version > resultVersion {
		return fmt.Errorf("texttosql: a result of version %d; this one reads %d", j.Version, resultVersion)
	}
	if decoded.Rows, decoded.Found = j.Rows, j.Found; j.Report != nil {
		decoded.Report = *j.Report
	}
	*r = decoded
	return nil
}

// PageOptions says what [Result.WritePage] shows beside the Result. The zero value shows no rows.
type PageOptions struct {
	Err  error // what Ask returned beside the Result
	Rows bool  // the first 50 rows
}

// WritePage writes one self-contained HTML page about r: the question, the statement, how the votes fell and a
// timeline. It holds SQL.
func (r *Result) WritePage(w io.Writer, o PageOptions) error {
	page := trace.Page{
		Question: r.Question, SQL: r.SQL, Root: r.Trace, Show: trace.PrivateSQL,
	}
	if o.Err != nil {
		page.Problem = o.Err.Error()
	}
	if len(r.Ballot.Clusters)+len(r.Ballot.Abstained) > 0 {
		page.Facts = append(page.Facts, trace.Fact{
			Name: "Confidence", Value: fmt.Sprintf("%.2f", r.Confidence), Share: r.Confidence,
		})
		page.Sections = append(page.Sections, r.votes())
	}
	for _, g := range r.Grounds {
		page.Facts = append(page.Facts, trace.Fact{Name: "Stands on", Value: g.String()})
	}
	if r.Rows != nil {
		count := fmt.Sprint(len(r.Rows.Rows))
		if r.Rows.Truncated {
			count = "more than " + count
		}
		page.Facts = append(page.Facts, trace.Fact{Name: "Rows", Value: count})
		if o.Rows {
			page.Sections = append(page.Sections, head(r.Rows))
		}
	}
	if len(r.Steps) > 0 {
		tried := trace.Section{Title: "Tried", Columns: []string{"Sample", "Action", "Outcome", "SQL"}}
		for _, s := range r.Steps {
			whose, outcome := fmt.Sprint(s.Sample), s.Status
			if s.Name != "" {
				whose += " (" + s.Name + ")"
			}
			if s.Problem != "" {
				outcome += ": " + s.Problem
			}
			tried.Rows = append(tried.Rows, []string{whose, s.Action, outcome, s.SQL})
		}
		page.Sections = append(page.Sections, tried)
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
		var samples []int
		for _, m := range c.Members {
			if m >= 0 && m < len(r.Candidates) {
				samples = append(samples, r.Candidates[m].Sample)
			}
		}
		s.Bars = append(s.Bars, trace.Fact{
			Samples: samples, Name: label, Share: c.Share, Value: fmt.Sprintf("%d of %d", len(c.Members), r.Ballot.Sampled),
			Detail: c.SQL, Lead: i == 0,
		})
	}
	if len(r.Ballot.Abstained) > 0 {
		s.Columns = []string{"Sample", "Had no vote because"}
		for _, a := range r.Ballot.Abstained {
			sample := a.Candidate
			if sample >= 0 && sample < len(r.Candidates) {
				sample = r.Candidates[sample].Sample
			}
			s.Rows = append(s.Rows, []string{fmt.Sprint(sample), a.Why})
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
