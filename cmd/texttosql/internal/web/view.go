package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/summary"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/vote"
)

// The states of a conversation as the page shows them.
const (
	running  = "running"
	waiting  = "waiting" // for a choice
	answered = "answered"
	failed   = "failed"
	stopped  = "stopped" // it can be resumed
)

// conversation is a session as the page shows it.
type conversation struct {
	ID       string `json:"id"`
	Revision int64  `json:"revision"`
	State    string `json:"state"`
	Title    string `json:"title"` // what it is called
	Left     int    `json:"left"`  // corrections that may still be made
	Turns    []turn `json:"turns"`
	// stopped, and the record says that it runs: its program died, or is another one
	Active bool `json:"active,omitempty"`
}

// turn is what the user did, with the answer to it.
type turn struct {
	Place     int      `json:"place"` // in the record
	Kind      string   `json:"kind"`
	Text      string   `json:"text"`
	Meaning   string   `json:"meaning,omitempty"` // how a correction was understood
	Answer    *reply   `json:"answer,omitempty"`
	Question  *choice  `json:"question,omitempty"` // the question to the user
	Failure   *trouble `json:"failure,omitempty"`
	Own       *own     `json:"own,omitempty"` // of a statement of the person
	Confirmed bool     `json:"confirmed,omitempty"`
	By        string   `json:"by,omitempty"` // who confirmed it, where that is known
}

// reply is an answer. What stands below Confidence is known to the program that found it.
type reply struct {
	SQL        string  `json:"sql"`
	Says       string  `json:"says,omitempty"` // what it computes, in a sentence
	Confidence float64 `json:"confidence"`
	Level      string  `json:"level"`   // the evidence for it, see vote.Level
	Closing    string  `json:"closing"` // the same as a sentence
	details
}

// choice is a question to the user.
type choice struct {
	Message string   `json:"message"`
	Options []option `json:"options"`
}

type option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	SQL   string `json:"sql,omitempty"`
	Says  string `json:"says,omitempty"`  // what tells it from the others
	Shows string `json:"shows,omitempty"` // what tells its rows from those of the others
	Rows  *table `json:"rows,omitempty"`
}

// failure says why there is no answer.
type trouble struct {
	Error    string            `json:"error"`
	Advice   []string          `json:"advice,omitempty"`
	Attempts []session.Attempt `json:"attempts,omitempty"`
	Class    failure.Class     `json:"class,omitempty"`
	Final    bool              `json:"final,omitempty"` // going on cannot help
	Trace    bool              `json:"trace,omitempty"`
}

// advice is a list of the one that there is.
func advice(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// says is what a statement computes, in a sentence; "" where that is not known.
func (s *Server) says(sql string) string {
	if s.DB == nil {
		return ""
	}
	return visible(summary.Sentence(s.DB.Language().Text, sql))
}

// found is what the rows of a statement show, in a sentence; "" where that is not known. Behind the limit of one or two
// rows may stand an equal one, for which nobody looked.
func (s *Server) found(sql string, rows *result.Table) string {
	few := rows != nil && (len(rows.Rows) == 1 || len(rows.Rows) == 2)
	if s.DB == nil || few && s.DB.Language().Text.Parse(sql).Outline().Limit {
		return ""
	}
	return visible(summary.Found(s.DB.Language().Text, sql, rows, time.Now(), nil, false))
}

// view makes the page's form of a record.
func (s *Server) view(r session.Record) conversation {
	c := conversation{ID: r.ID, Revision: r.Revision, Left: max(0, dialogue.MaxCorrections-r.Corrected()), Turns: []turn{}}
	c.State, c.Active = s.state(r.ID, r.State)
	main := 0 // the last one that is no statement of the person
	for i, t := range r.Turns {
		if i > 0 && (t.Kind == dialogue.TurnConfirmation || t.Kind == dialogue.TurnPartial) { // the refusal told what is held
			c.Turns[main].Confirmed = t.Kind == dialogue.TurnConfirmation || c.Turns[main].Confirmed
			continue
		}
		v := turn{Place: i, Kind: t.Kind, Text: visible(t.Text), Confirmed: t.Confirmed}
		if t.Correction != nil {
			v.Meaning = visible(t.Correction.String())
		}
		known := s.seen.get(memoKey{r.ID, i})
		if t.Kind != dialogue.TurnStatement {
			main = len(c.Turns)
		} else if v.Own = (&own{Closing: vote.LevelOwn.Closing(), Says: s.says(t.Text)}); known != nil {
			v.Own.Rows, v.Own.Found = known.Rows, s.found(t.Text, known.all)
		}
		if a := t.Answer; a != nil && (i < r.Last() || c.State == answered) { // a choice has one before it was checked
			v.Answer = &reply{SQL: visible(a.SQL), Says: s.says(a.SQL), Confidence: a.Confidence, Level: a.Level,
				// earlier versions stored no sentence
				Closing: visible(cmp.Or(a.Closing, fmt.Sprintf("Confidence %.2f.", a.Confidence)))}
			if known != nil {
				v.Answer.details = known.details
				if known.result == nil { // the engine said nothing of rows that were read again
					v.Answer.Found = cmp.Or(known.Found, s.found(a.SQL, known.all))
				}
			}
			if t.Kind == dialogue.TurnChoice && t.Correction == nil {
				if v.Answer.Says != "" {
					v.Text, v.Answer.Says = v.Answer.Says, ""
				}
				v.Answer.Why = "A person decided, and no vote was held."
			}
		}
		if i == r.Last() {
			s.end(&c, &v, &r, known)
		}
		c.Turns = append(c.Turns, v)
	}
	s.confirmers(&c, r)
	c.Title = visible(cmp.Or(r.Title, r.Summary().Question))
	return c
}

// confirmers adds who confirmed the answers of a record. One that was taken back is confirmed no more.
func (s *Server) confirmers(c *conversation, r session.Record) {
	pairs, err := s.Confirmed.PairsOf(s.Engine.ScopeKey())
	if err != nil {
		return // the answers are there without them
	}
	for i := range c.Turns {
		t := &c.Turns[i]
		if t.Confirmed {
			t.By, t.Confirmed = s.confirmedBy(pairs, s.bare(statementOf(r, t.Place)))
		}
	}
}

// state is the state of a session for the page. active says that its record claims to run and that it does not run
// here. A session that is answered stays so while its rows are read again.
func (s *Server) state(id string, at session.State) (state string, active bool) {
	switch {
	case at == session.AwaitingCorrection:
		return waiting, false
	case at == session.Completed, at == dialogue.Initializing: // of statements of the person alone
		return answered, false
	case at == session.Failed:
		return failed, false
	case at.Active() && s.runs(id):
		return running, false
	case at.Active():
		return stopped, true
	}
	return stopped, false
}

// end adds to the last turn how the record ends.
func (s *Server) end(c *conversation, v *turn, r *session.Record, known *kept) {
	switch {
	case c.State == waiting && r.Pending != nil:
		v.Question = &choice{Message: visible(r.Pending.Message)}
		told := make([]string, len(r.Pending.Options))
		if s.DB != nil {
			var all []string
			for _, o := range r.Pending.Options {
				all = append(all, o.SQL)
			}
			told = summary.DescribeDifferences(s.DB.Language().Text, all)
		}
		for i, o := range r.Pending.Options {
			shown := option{ID: o.ID, Label: visible(o.Label), SQL: visible(o.SQL), Says: visible(told[i])}
			if known != nil {
				shown.Rows, shown.Shows = known.options[o.ID], known.figures[o.ID]
			}
			v.Question.Options = append(v.Question.Options, shown)
		}
	case c.State == failed && r.Failure != nil:
		v.Failure = &trouble{Error: s.clean(cmp.Or(r.Failure.Message, r.Failure.Error)), Trace: known != nil && known.Trace}
		for _, a := range r.Failure.Recommendations {
			v.Failure.Advice = append(v.Failure.Advice, advice(s.clean(forVisitors(a)))...)
		}
		for _, a := range r.Failure.Attempts {
			v.Failure.Attempts = append(v.Failure.Attempts, session.Attempt{SQL: visible(a.SQL), Error: s.clean(a.Error)})
		}
	case c.State == stopped && known != nil && known.problem != nil:
		v.Failure = known.problem
	case c.State == stopped:
		v.Failure = &trouble{Error: "The question was stopped before it was answered."}
		if c.Active {
			v.Failure.Error = "The program that worked on this question has ended, or another one is working on it."
		}
	}
}

// visible shows each character that is not seen, or that moves others, by its code: a statement could read as another
// one.
func visible(text string) string {
	return words.Visible(text, "⟨U+%04X⟩", func(r rune) bool { return r != '\n' && r != '\t' && words.Hidden(r) })
}

// schema answers with what questions can be about.
func (s *Server) schema(w http.ResponseWriter, r *http.Request) {
	known, err := s.Engine.Schema(r.Context())
	if err != nil {
		s.refuse(w, err)
		return
	}
	type column struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		Notes string `json:"notes"` // key, what it refers to, its meaning
	}
	type relation struct {
		Name    string   `json:"name"`
		Kind    string   `json:"kind"`
		About   string   `json:"about"`
		Columns []column `json:"columns"`
	}
	out := []relation{}
	for _, t := range known.Tables {
		rel := relation{Name: visible(t.TableName().String()), Kind: t.Kind, About: visible(t.Description),
			Columns: []column{}}
		for _, c := range t.Columns {
			var notes []string
			if slices.Contains(t.PrimaryKey, c.Name) {
				notes = append(notes, "key")
			}
			for _, f := range t.ForeignKeys {
				if i := slices.Index(f.Columns, c.Name); i >= 0 && i < len(f.RefColumns) {
					notes = append(notes, "refers to "+f.RefTable+"."+f.RefColumns[i])
				}
			}
			if about := cmp.Or(c.Description, c.Described, c.Title); about != "" {
				notes = append(notes, about)
			}
			rel.Columns = append(rel.Columns, column{visible(c.Name), visible(c.Type), visible(strings.Join(notes, "; "))})
		}
		out = append(out, rel)
	}
	answer(w, http.StatusOK, map[string]any{"tables": out})
}
