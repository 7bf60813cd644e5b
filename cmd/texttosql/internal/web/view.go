package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/session"
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
	Title    string `json:"title"`
	Left     int    `json:"left"` // corrections that may still be made
	Turns    []turn `json:"turns"`
	Active   bool   `json:"active,omitempty"` // stopped, and the record says that it runs: its program died, or is another one
}

// turn is what the user did, with the answer to it.
type turn struct {
	Place     int              `json:"place"` // in the record
	Kind      session.TurnKind `json:"kind"`
	Text      string           `json:"text"`
	Meaning   string           `json:"meaning,omitempty"` // how a correction was understood
	Answer    *reply           `json:"answer,omitempty"`
	Question  *choice          `json:"question,omitempty"` // what the user is asked
	Failure   *failure         `json:"failure,omitempty"`
	Confirmed bool             `json:"confirmed,omitempty"`
}

// reply is an answer. What stands below Confidence is known to the program that found it.
type reply struct {
	SQL        string  `json:"sql"`
	Confidence float64 `json:"confidence"`
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
	Rows  *table `json:"rows,omitempty"`
}

// failure says why there is no answer.
type failure struct {
	Error    string            `json:"error"`
	Advice   []string          `json:"advice,omitempty"`
	Attempts []session.Attempt `json:"attempts,omitempty"`
	Trace    bool              `json:"trace,omitempty"`
}

// view makes the page's form of a record.
func (s *Server) view(r session.Record) conversation {
	c := conversation{ID: r.ID, Revision: r.Revision, Left: max(0, session.MaxCorrections-r.Corrected()), Turns: []turn{}}
	c.State, c.Active = s.state(r.ID, r.State)
	for i, t := range r.Turns {
		if i > 0 && (t.Kind == session.TurnConfirmation || t.Kind == session.TurnHeld) { // the refusal told what is held
			c.Turns[len(c.Turns)-1].Confirmed = t.Kind == session.TurnConfirmation || c.Turns[len(c.Turns)-1].Confirmed
			continue
		}
		v := turn{Place: i, Kind: t.Kind, Text: visible(t.Text)}
		if t.Correction != nil {
			v.Meaning = visible(t.Correction.String())
		}
		known := s.seen.get(memoKey{r.ID, i})
		if a := t.Answer; a != nil && (i < r.Last() || c.State == answered) { // a choice has one before it was checked
			v.Answer = &reply{SQL: visible(a.SQL), Confidence: a.Confidence}
			if known != nil {
				v.Answer.details = known.details
			}
		}
		if i == r.Last() {
			s.end(&c, &v, &r, known)
		}
		c.Turns = append(c.Turns, v)
	}
	if len(c.Turns) > 0 {
		c.Title = c.Turns[0].Text
	}
	return c
}

// state is the state of a session for the page. active says that its record claims to run and that it does not run
// here. A session that is answered stays so while its rows are read again.
func (s *Server) state(id string, at session.State) (state string, active bool) {
	switch {
	case at == session.AwaitingCorrection:
		return waiting, false
	case at == session.Completed:
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
		for _, o := range r.Pending.Options {
			shown := option{ID: o.ID, Label: visible(o.Label), SQL: visible(o.SQL)}
			if known != nil {
				shown.Rows = known.options[o.ID]
			}
			v.Question.Options = append(v.Question.Options, shown)
		}
	case c.State == failed && r.Failure != nil:
		v.Failure = &failure{Error: s.clean(r.Failure.Error), Trace: known != nil && known.Trace}
		for _, a := range r.Failure.Recommendations {
			v.Failure.Advice = append(v.Failure.Advice, s.clean(a))
		}
		for _, a := range r.Failure.Attempts {
			v.Failure.Attempts = append(v.Failure.Attempts, session.Attempt{SQL: visible(a.SQL), Error: s.clean(a.Error)})
		}
	case c.State == stopped && known != nil && known.problem != "":
		v.Failure = &failure{Error: known.problem, Trace: known.Trace}
	case c.State == stopped:
		v.Failure = &failure{Error: "The question was stopped before it was answered."}
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

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	rec, err := s.Store.Load(r.Context(), r.PathValue("id"))
	if err != nil {
		s.refuse(w, err)
		return
	}
	answer(w, http.StatusOK, s.view(rec))
}

// entry is a conversation in the list.
type entry struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	State   string    `json:"state"`
	Updated time.Time `json:"updated"`
}

// maxListed is how many conversations the page lists, maxOffered how many confirmed questions it offers.
const (
	maxListed  = 30
	maxOffered = 4
)

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	all, err := s.Store.List(r.Context(), session.Filter{Limit: maxListed})
	if all == nil && err != nil { // a broken record is no reason to show none
		s.refuse(w, err)
		return
	}
	out := struct {
		Database      string   `json:"database"`
		Conversations []entry  `json:"conversations"`
		Confirmed     []string `json:"confirmed"` // questions, the latest first
	}{s.Title, []entry{}, []string{}}
	for _, one := range all {
		state, _ := s.state(one.ID, one.State)
		out.Conversations = append(out.Conversations, entry{one.ID, visible(words.Short(words.Line(one.Question), 200)), state, one.Updated})
	}
	if pairs, err := s.Confirmed.Pairs(); err == nil {
		for _, p := range slices.Backward(pairs) {
			if len(out.Confirmed) < maxOffered {
				out.Confirmed = append(out.Confirmed, visible(p.Question))
			}
		}
	}
	answer(w, http.StatusOK, out)
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
		rel := relation{Name: visible(t.TableName().String()), Kind: t.Kind, About: visible(t.Description), Columns: []column{}}
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
