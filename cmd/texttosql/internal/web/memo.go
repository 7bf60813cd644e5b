package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/summary"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
)

// details is what this program knows of an answer beyond its record.
type details struct {
	Found    string     `json:"found,omitempty"` // what the rows show, in a sentence
	Why      string     `json:"why,omitempty"`   // how the votes fell, in a line
	Votes    []share    `json:"votes,omitempty"`
	Without  [][]string `json:"without,omitempty"` // statements without a vote: the statement, and why
	Notes    []string   `json:"notes,omitempty"`   // decisions
	Warnings []string   `json:"warnings,omitempty"`
	Remarks  []string   `json:"remarks,omitempty"` // about the state of the rows: they change no level
	Grounds  []ground   `json:"grounds,omitempty"`
	Next     []string   `json:"next,omitempty"` // questions that may come next
	Cost     string     `json:"cost,omitempty"`
	Rows     *table     `json:"rows,omitempty"`
	Trace    bool       `json:"trace,omitempty"` // there is a page about it
}

// ground is something that an answer stands on. Params are the values of a verified question, by name.
type ground struct {
	Text   string            `json:"text"`
	Params map[string]string `json:"params,omitempty"`
}

// share is a cluster of the vote.
type share struct {
	Label  string   `json:"label"`
	Votes  string   `json:"votes"` // "3 of 5"
	Share  float64  `json:"share"`
	SQL    string   `json:"sql"`
	Doubts []string `json:"doubts,omitempty"`
}

// kept is what a memo has of a turn.
type kept struct {
	details
	all     *result.Table     // Rows, whole
	problem *trouble          // why the question was stopped
	options map[string]*table // the rows of the options of a question to the user
	figures map[string]string // those of them that differ, in short
	result  *texttosql.Result // without its rows
	err     error
}

// memo keeps the turns that were answered last. The zero memo is empty. Safe for concurrent use.
type memo struct {
	mu   sync.Mutex
	all  map[memoKey]*kept
	ages []memoKey // the oldest first
}

type memoKey struct {
	id   string
	turn int // its place in the record
}

// maxKept bounds the turns of a memo: a turn has about a megabyte of cells at most, and its trace.
const maxKept = 32

func (m *memo) get(k memoKey) *kept {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all[k]
}

func (m *memo) put(k memoKey, v *kept) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[memoKey]*kept{}
	}
	m.all[k] = v
	m.ages = append(slices.DeleteFunc(m.ages, func(have memoKey) bool { return have == k }), k)
	if len(m.ages) > maxKept {
		delete(m.all, m.ages[0])
		m.ages = slices.Delete(m.ages, 0, 1)
	}
}

// change changes what is known of a turn; of one that is not known, only that is known then.
func (m *memo) change(k memoKey, f func(*kept)) {
	now := kept{}
	if old := m.get(k); old != nil {
		now = *old
	}
	f(&now)
	m.put(k, &now)
}

// drop forgets the turns of a conversation from one on.
func (m *memo) drop(id string, from int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gone := func(k memoKey) bool { return k.id == id && k.turn >= from }
	m.ages = slices.DeleteFunc(m.ages, gone)
	maps.DeleteFunc(m.all, func(k memoKey, _ *kept) bool { return gone(k) })
}

// keep remembers what a call of a session returned.
func (s *Server) keep(r session.Record, res *texttosql.Result, err error) {
	if len(r.Turns) == 0 || errors.Is(err, session.ErrConflict) {
		return
	}
	at := memoKey{r.ID, r.Last()}
	var stopped *session.InterruptedError
	cause := err
	if errors.As(err, &stopped) {
		cause = stopped.Err
	}
	unsaved := err != nil && r.State.Active() // not even the end
	var asked *session.QuestionError
	if began := res != nil && (res.Trace != nil || errors.As(err, &asked)); !began {
		if stopped != nil || unsaved { // before it began
			s.seen.change(at, func(k *kept) { k.problem = s.stopped(cause, false) })
		}
		return
	}
	shown := *res
	shown.Rows = nil
	k := &kept{result: &shown, err: err}
	old := s.seen.get(at)
	if old != nil && len(res.Candidates) == 0 && old.result != nil && old.result.SQL == res.SQL {
		*k = *old // the rows were read again, and no vote was taken
	} else {
		k.details = s.explain(res)
		k.details.Next = unasked(k.details.Next, r)
	}
	k.Rows, k.all = s.tabled(res.SQL, res.Rows), res.Rows
	switch {
	case errors.As(err, &asked):
		k.options, k.figures = map[string]*table{}, map[string]string{}
		var all []*result.Table
		for _, o := range asked.Options {
			all = append(all, o.Rows)
		}
		for i, figures := range summary.PreviewRows(all) {
			o := asked.Options[i]
			k.options[o.ID], k.figures[o.ID] = s.tabled(o.SQL, o.Rows), visible(figures)
		}
	case stopped != nil || unsaved:
		k.problem = s.stopped(cause, res.Trace != nil)
	}
	s.seen.put(at, k)
}

// stopped says why a question was stopped.
func (s *Server) stopped(err error, traced bool) *trouble {
	f := failure.Of(err)
	switch f.Class {
	case failure.Key, failure.Config, failure.Provider: // the log of the program has why
		return &trouble{Error: unavailable, Class: f.Class, Final: f.Class == failure.Key || f.Class == failure.Config,
			Trace: traced}
	}
	return &trouble{Error: s.clean(f.Message), Advice: advice(s.clean(forVisitors(f.Advice))), Class: f.Class,
		Trace: traced}
}

// unavailable is what a visitor reads of a failure that only the operator can mend.
const unavailable = "The assistant is not available now; the operator has been told."

// operators are words of advice that a visitor cannot follow.
var operators = regexp.MustCompile(`(?i)\b(models?|key|samples|budget|configuration|policy|log of the program|more time|its path|strategy|less confidence)\b`)

// forVisitors leaves out of an advice what only an operator can do.
func forVisitors(text string) string {
	var kept []string
	for _, sentence := range strings.SplitAfter(text, ". ") {
		parts := strings.Split(strings.TrimRight(sentence, ". "), ", or ")
		parts = slices.DeleteFunc(parts, operators.MatchString)
		if whole := strings.Join(parts, ", or "); whole != "" {
			kept = append(kept, strings.ToUpper(whole[:1])+whole[1:]+".")
		}
	}
	return strings.Join(kept, " ")
}

// explain says how an answer was found.
func (s *Server) explain(res *texttosql.Result) details {
	d := details{Found: visible(res.Summary), Trace: res.Trace != nil, Next: s.next(res)}
	if b := res.Ballot; len(b.Clusters)+len(b.Abstained) > 0 {
		d.Why = visible(b.Explain())
		for i, c := range b.Clusters {
			v := share{Label: fmt.Sprintf("Answer %d", i+1), Share: c.Share, SQL: visible(c.SQL),
				Votes: fmt.Sprintf("%d of %d", len(c.Members), b.Sampled)}
			if c.Best >= 0 && c.Best < len(res.Candidates) && res.Candidates[c.Best].Fingerprint != "" {
				best := res.Candidates[c.Best]
				v.Label += fmt.Sprintf(": %s of %s", counted(best.Rows, "row"), counted(best.Columns, "column"))
			}
			for _, doubt := range c.Doubts {
				v.Doubts = append(v.Doubts, visible(words.Short(doubt.Detail, 300)))
			}
			d.Votes = append(d.Votes, v)
		}
	}
	for _, g := range res.Grounds {
		d.Grounds = append(d.Grounds, ground{visible(g.String()), g.Params})
	}
	for _, c := range res.WithoutVote() {
		d.Without = append(d.Without, []string{visible(c.SQL), s.clean(c.Rejected)})
	}
	for _, w := range res.Warnings {
		switch text := s.clean(w.Message); {
		case w.Code == "state-of-rows":
			d.Remarks = append(d.Remarks, text)
		case !strings.Contains(s.clean(res.Closing()), strings.TrimSuffix(text, ".")):
			d.Warnings = append(d.Warnings, text)
		}
	}
	for _, n := range res.Notes {
		if n = s.clean(n); !slices.Contains(d.Warnings, n) {
			d.Notes = append(d.Notes, n)
		}
	}
	d.Cost = fmt.Sprintf("%.2f s", res.Trace.Duration().Seconds())
	if u := res.Usage; u.Calls > 0 {
		d.Cost = fmt.Sprintf("%s, %s tokens, %s", counted(u.Calls, "model call"),
			words.Thousands(u.PromptTokens+u.CompletionTokens), d.Cost)
	}
	return d
}

func counted(n int, thing string) string {
	return words.Thousands(n) + " " + words.Plural(thing, n)
}

// trace is the page of one answer, as package trace writes it.
func (s *Server) trace(w http.ResponseWriter, r *http.Request) {
	turn, err := place(r.PathValue("turn"))
	known := s.seen.get(memoKey{r.PathValue("id"), turn})
	if err != nil || known == nil || known.result == nil {
		answer(w, http.StatusNotFound,
			problem{"missing", "how this answer was found is known to the program that found it, and no longer to this one"})
		return
	}
	shownErr := known.err
	if shownErr != nil {
		shownErr = errors.New(s.clean(failure.Of(shownErr).Message))
	}
	var page bytes.Buffer
	if err := known.result.WritePage(&page, shownErr, false); err != nil {
		s.refuse(w, err)
		return
	}
	// Its only style stands before any text from outside but the title.
	head, body, _ := strings.Cut(page.String(), "</style>")
	_, style, _ := strings.Cut(head, "<style>")
	if s.Hide != nil {
		body = shownText.ReplaceAllStringFunc(body, s.Hide)
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src "+hash([]byte(style))+
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	io.WriteString(w, head+"</style>"+body)
}

// shownText is what stands between the tags of a page whose texts are escaped.
var shownText = regexp.MustCompile(`>[^<>]+<`)

// hash is a source of a content policy.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
