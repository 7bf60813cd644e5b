package texttosql

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/intent"
	"github.com/texttosql/texttosql/internal/rawreport"
	"github.com/texttosql/texttosql/internal/tracepage"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Result is one answer with all facts about it.
//
// SQL is one checked statement that only reads. Without SQL, Confidence is 0. Otherwise it is (the winner's votes +
// 1) ÷ (all votes + Ballot.Against + 2), reduced by each doubt (see vote.Ballot
// and its Explain). A second opinion and verified answers of the same form change it too. The JSON form leaves
// out rows (see MarshalWithRows), and its trace has what WithTraceContent allows. strategy.ReadReport reads the
// Report of a Result from JSON.
type Result struct {
	Question   string      `json:"question"`   // the question as it was asked
	SQL        string      `json:"sql"`        // the winner; "" when there is none
	Confidence float64     `json:"confidence"` // 0..1: the formula of vote.Ballot, or the strategy's own
	Ballot     vote.Ballot `json:"ballot"`     // the counted votes
	// every candidate in the order of samples, rejected ones included
	Candidates []vote.Candidate `json:"candidates,omitempty"`
	Links      schema.Links     `json:"links,omitzero"`  // the linker's choice; zero: the whole schema
	Saved      int              `json:"saved,omitempty"` // samples that an early stop made unnecessary
	Notes      []string         `json:"notes,omitempty"` // decisions in words, in their order
	Steps      []strategy.Step  `json:"steps,omitempty"` // repairs and corrections that were tried, in order
	Report     strategy.Report  `json:"-"`               // further facts from the strategy; nil: none
	Rows       *result.Table    `json:"-"`               // nil from Generate, and when the statement was not run
	// Level names the evidence for the answer; "" without one. Closing has it as a sentence.
	Level vote.Level `json:"level,omitempty"`
	// Summary describes Rows in one English sentence; "" if no rule applies. With WithSummary a model writes it.
	Summary string `json:"-"`
	// Grounds are the definitions that the answer uses: a metric, or terms of the question. nil: it uses none.
	Grounds []knowledge.Provenance `json:"grounds,omitempty"`
	// Answerable reports whether the data can answer the question; Confidence does not. Every vote sets it, also if
	// there is an error. nil: nothing was sampled.
	Answerable *Answerable `json:"answerable,omitempty"`
	// usage of all model calls, cancelled ones included; recorded replies cost nothing
	Usage    llm.Usage       `json:"usage"`
	Warnings []trace.Warning `json:"warnings,omitempty"` // facts for the person who asked
	Trace    *trace.Span     `json:"trace,omitempty"`    // the steps with their reasons

	remarks        []trace.Warning // become Warnings, are in no trace, and change no level
	contradictions []trace.Warning // become Warnings, and are in no trace, since they have words of the question
}

// outcome is what the strategy found.
func (r *Result) outcome() *strategy.Outcome {
	return &strategy.Outcome{
		SQL: r.SQL, Confidence: r.Confidence, Ballot: r.Ballot, Candidates: r.Candidates, Links: r.Links, Saved: r.Saved,
		Notes: r.Notes, Steps: r.Steps, Report: r.Report,
	}
}

// setOutcome writes down what the strategy found.
func (r *Result) setOutcome(o *strategy.Outcome) {
	r.SQL, r.Confidence, r.Ballot, r.Candidates, r.Links, r.Saved = o.SQL, o.Confidence, o.Ballot, o.Candidates, o.Links,
		o.Saved
	r.Notes, r.Steps, r.Report = o.Notes, o.Steps, o.Report
}

// note adds a decision in words.
func (r *Result) note(format string, args ...any) {
	o := r.outcome()
	o.Note(format, args...)
	r.Notes = o.Notes
}

// WithoutVote lists the candidates that have no vote, each with the reason in Rejected.
func (r *Result) WithoutVote() []vote.Candidate { return r.outcome().WithoutVote() }

// resultVersion is the version of the JSON form of a Result. Version 1, which did not name itself, had what methods
// tell in fields of their own; they are not read.
const resultVersion = 2

// resultJSON is the JSON form of a Result.
type resultJSON struct {
	Version int `json:"version"`
	*resultFields
	Report *rawreport.Report `json:"report,omitempty"`
	Found  string            `json:"found,omitempty"`
	Rows   *result.Table     `json:"rows,omitempty"`
}

type resultFields Result

// MarshalJSON writes r without its rows.
func (r Result) MarshalJSON() ([]byte, error) { return r.marshal(nil) }

// MarshalWithRows returns the JSON form of r with its rows under "rows", and Summary under "found".
func (r *Result) MarshalWithRows() ([]byte, error) { return r.marshal(r.Rows) }

func (r *Result) marshal(rows *result.Table) ([]byte, error) {
	j := resultJSON{Version: resultVersion, resultFields: (*resultFields)(r), Rows: rows}
	if rows != nil {
		j.Found = r.Summary // it has values of the rows
	}
	switch report := r.Report.(type) {
	case nil:
	case rawreport.Report:
		j.Report = &report
	default:
		text, err := json.Marshal(report)
		if err != nil {
			return nil, fmt.Errorf("texttosql: writing the report of %s: %w", report.Method(), err)
		}
		j.Report = &rawreport.Report{Name: report.Method(), JSON: text}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads the output of MarshalJSON, from this version or an earlier one.
func (r *Result) UnmarshalJSON(b []byte) error {
	var decoded Result
	j := resultJSON{resultFields: (*resultFields)(&decoded)}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if j.Version > resultVersion {
		return fmt.Errorf("texttosql: a result of version %d; this one reads %d", j.Version, resultVersion)
	}
	if decoded.Rows, decoded.Summary = j.Rows, j.Found; j.Report != nil {
		decoded.Report = *j.Report
	}
	*r = decoded
	return nil
}

// nothingChanged is the code of the warning for a question that wants data changed.
const nothingChanged = "nothing-changed"

// Closing returns the last line of an answer: one or two sentences about the evidence for it, with the reason for a
// doubt; "" without a statement. For an answer that was compiled from a metric it begins with "By the metric
// revenue."; at LevelOwn it has only that sentence. For a question that wants data changed it first says that nothing
// was changed. It may contain words of the question.
func (r *Result) Closing() string {
	if r.SQL == "" {
		return ""
	}
	for _, w := range r.Warnings {
		if w.Code == nothingChanged {
			return intent.NothingChanged + " " + r.evidence()
		}
	}
	return r.evidence()
}

// evidence tells how far the answer can be trusted.
func (r *Result) evidence() string {
	byMetric := r.byMetric()
	switch {
	case r.Level == vote.LevelVerified:
		return r.verifiedBy()
	case len(r.Ballot.Clusters) > 0:
		return strings.TrimSpace(byMetric + " " + r.Ballot.Closing())
	case r.Level == vote.LevelOwn && byMetric != "":
		return byMetric
	}
	return strings.TrimSpace(byMetric + " " + r.Level.Closing())
}

// byMetric names the metrics from which the answer was compiled; "" for none.
func (r *Result) byMetric() string {
	var names []string
	for _, g := range r.Grounds {
		if g.Kind == "metric" {
			names = append(names, g.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "By the " + words.Plural("metric", len(names)) + " " + strings.Join(names, ", ") + "."
}

// verifiedBy tells who verified the answer, and when.
func (r *Result) verifiedBy() string {
	text := "Verified"
	for _, g := range r.Grounds {
		if g.Kind != "verified" {
			continue
		}
		if g.Owner != "" {
			text += " by " + g.Owner
		}
		if day, err := time.Parse(time.DateOnly, g.On); err == nil {
			text += " on " + day.Format("2 January 2006")
		}
		break
	}
	return text + "."
}

// WritePage writes one self-contained HTML page about r: the question, the statement, the votes and a timeline,
// with the error that came with r (nil: none), and the first 50 rows if rows is set. It contains SQL.
func (r *Result) WritePage(w io.Writer, err error, rows bool) error {
	page := tracepage.Page{Question: r.Question, SQL: r.SQL}
	if err != nil {
		page.Problem = err.Error()
	}
	if len(r.Ballot.Clusters)+len(r.Ballot.Abstained) > 0 {
		page.Facts = append(page.Facts, tracepage.Fact{
			Name: "Confidence", Value: fmt.Sprintf("%.2f", r.Confidence), Share: r.Confidence,
		})
		page.Sections = append(page.Sections, r.votes())
	}
	for _, g := range r.Grounds {
		page.Facts = append(page.Facts, tracepage.Fact{Name: "Stands on", Value: g.String()})
	}
	if r.Rows != nil {
		count := fmt.Sprint(len(r.Rows.Rows))
		if r.Rows.Truncated {
			count = "more than " + count
		}
		page.Facts = append(page.Facts, tracepage.Fact{Name: "Rows", Value: count})
		if rows {
			page.Sections = append(page.Sections, head(r.Rows))
		}
	}
	if len(r.Steps) > 0 {
		tried := tracepage.Section{Title: "Tried", Columns: []string{"Sample", "Action", "Outcome", "SQL"}}
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
		notes := tracepage.Section{Title: "Decisions", Columns: []string{""}}
		for _, n := range r.Notes {
			notes.Rows = append(notes.Rows, []string{n})
		}
		page.Sections = append(page.Sections, notes)
	}
	return r.Trace.WritePage(w, page, trace.PrivateSQL)
}

// votes shows the ballot.
func (r *Result) votes() tracepage.Section {
	s := tracepage.Section{Title: "Votes", Note: r.Ballot.Explain()}
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
		s.Bars = append(s.Bars, tracepage.Fact{
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

func head(t *result.Table) tracepage.Section {
	s := tracepage.Section{Title: "Result", Columns: t.Columns}
	all := fmt.Sprint(len(t.Rows))
	if t.Truncated {
		all = "more than " + all
	}
	if len(t.Rows) > pageRows || t.Truncated {
		s.Note = fmt.Sprintf("the first %d of %s rows", min(pageRows, len(t.Rows)), all)
	}
	for _, row := range t.Rows[:min(pageRows, len(t.Rows))] {
		cells := make([]string, len(row))
		for i, v := range row {
			if cells[i] = "NULL"; v != nil {
				cells[i] = words.Plain(v)
			}
		}
		s.Rows = append(s.Rows, cells)
	}
	return s
}
