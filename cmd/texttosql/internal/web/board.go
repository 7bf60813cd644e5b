package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// card is an answer in short: a saved one, or one that was asked last.
type card struct {
	ID       string     `json:"id"`
	Place    int        `json:"place,omitempty"` // of an answer in the conversation ID
	Question string     `json:"question"`
	SQL      string     `json:"sql,omitempty"`
	By       string     `json:"by,omitempty"`
	At       *time.Time `json:"at,omitempty"`
	Tags     []string   `json:"tags,omitempty"`    // the tables that it reads
	Closing  string     `json:"closing,omitempty"` // the evidence for it
	*ran
}

// ran is what a run of a statement showed.
type ran struct {
	Figure string    `json:"figure"` // one value, or what the rows show
	Short  bool      `json:"short"`  // it is one value
	Ran    time.Time `json:"ran"`
	Spark  *spark    `json:"spark,omitempty"`
}

// spark is a chart without words.
type spark struct {
	Kind   string    `json:"kind"`
	Values []float64 `json:"values"`
}

// Bounds of what cards show.
const (
	maxSaved = 200 // answers
	maxSpark = 60  // values
	maxShort = 24  // bytes of a value that stands large
)

// figure is what a card shows of rows.
func (s *Server) figure(sql string, rows *result.Table, at time.Time) *ran {
	shown := s.tabled(sql, rows)
	r := &ran{Figure: s.found(sql, rows), Ran: at}
	if shown.Total == 1 && len(shown.Columns) == 1 && shown.Rows[0][0] != nil && len(*shown.Rows[0][0]) <= maxShort {
		r.Figure, r.Short = *shown.Rows[0][0], true
	}
	if r.Figure = cmp.Or(r.Figure, s.says(sql)); r.Figure == "" && len(shown.Charts) > 0 {
		r.Figure = shown.Charts[0].Title
	}
	r.Figure = cmp.Or(r.Figure, shown.Count)
	if len(shown.Charts) > 0 && shown.Charts[0].Kind != "scatter" {
		r.Spark = &spark{Kind: shown.Charts[0].Kind, Values: []float64{}}
		all := shown.Charts[0].Lines[0].Values
		for i, v := range all { // each, or as few between two as there is room for
			if v != nil && i%((len(all)+maxSpark-1)/maxSpark) == 0 {
				r.Spark.Values = append(r.Spark.Values, *v)
			}
		}
	}
	return r
}

// savedID names a saved answer in addresses. It stays the same as long as the question does.
func savedID(p memory.Exemplar) string {
	sum := sha256.Sum256([]byte(p.Scope + "\x00" + words.Fold(p.Question)))
	return hex.EncodeToString(sum[:8])
}

// schemaForCards is the schema that the tags of cards come from; nil where it cannot be read, since a card is whole
// without them.
func (s *Server) schemaForCards(ctx context.Context) *schema.Schema {
	known, err := s.Engine.Schema(ctx)
	if err != nil {
		return nil
	}
	return known
}

// savedCard is a saved answer with what its last run showed. Its tags are tables of the schema; nil: it has none.
func (s *Server) savedCard(known *schema.Schema, p memory.Exemplar) card {
	c := card{ID: savedID(p), Question: visible(words.Short(words.Line(p.Question), 500)), SQL: p.SQL, By: visible(p.By),
		At: p.At}
	if s.DB != nil && known != nil {
		for _, t := range tablesOf(s.DB.Language().Text.Parse(p.SQL), known) {
			c.Tags = append(c.Tags, visible(t.Name))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, known := s.figures[c.ID+p.SQL]; known {
		c.ran = &last
	}
	return c
}

// savedPairs are the answers that were confirmed in this scope, as far as the policy allows them.
func (s *Server) savedPairs(ctx context.Context) ([]memory.Exemplar, error) {
	pairs, err := s.Confirmed.PairsOf(s.Engine.ScopeKey())
	if err != nil {
		return nil, err
	}
	return s.Engine.Permitted(ctx, pairs)
}

// savedPair is the saved answer that an id names.
func (s *Server) savedPair(ctx context.Context, id string) (memory.Exemplar, error) {
	pairs, err := s.Confirmed.PairsOf(s.Engine.ScopeKey())
	if err == nil {
		isOther := func(p memory.Exemplar) bool { return savedID(p) != id }
		pairs, err = s.Engine.Permitted(ctx, slices.DeleteFunc(pairs, isOther))
	}
	if err == nil && len(pairs) == 0 {
		err = missingError("No saved answer has this id.")
	}
	if err != nil {
		return memory.Exemplar{}, err
	}
	return pairs[0], nil
}

// board gives the answers that were confirmed in this scope, the latest first.
func (s *Server) board(w http.ResponseWriter, r *http.Request) {
	out := struct {
		Answers []card `json:"answers"`
		Billed  bool   `json:"billed,omitempty"` // each run costs by what it reads: none runs by itself
	}{Answers: []card{}, Billed: s.billed()}
	pairs, err := s.savedPairs(r.Context())
	if err != nil {
		s.refuse(w, err)
		return
	}
	known := s.schemaForCards(r.Context())
	for _, p := range slices.Backward(pairs) {
		if len(out.Answers) == maxSaved {
			break
		}
		out.Answers = append(out.Answers, s.savedCard(known, p))
	}
	answer(w, http.StatusOK, out)
}

// billed reports whether each run of a statement costs by what it reads.
func (s *Server) billed() bool { return s.DB != nil && s.DB.Language().BillsScans }

// runSaved runs a saved answer for the figure of its card.
func (s *Server) runSaved(w http.ResponseWriter, r *http.Request) {
	p, err := s.savedPair(r.Context(), r.PathValue("id"))
	if err == nil {
		err = s.runPair(r.Context(), p)
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	answer(w, http.StatusOK, s.savedCard(s.schemaForCards(r.Context()), p))
}

func (s *Server) runPair(ctx context.Context, p memory.Exemplar) error {
	ctx, release, err := s.work(ctx, "saved "+savedID(p)+" "+session.NewID()) // several visitors may run it at once
	if err != nil {
		return err
	}
	defer release()
	rows, err := s.Engine.Query(ctx, p.SQL)
	if err != nil {
		return err
	}
	now := s.figure(p.SQL, rows, time.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.figures[savedID(p)+p.SQL] = *now
	return nil
}

// removeSaved takes a saved answer back. Its conversation shows it as confirmed no more.
func (s *Server) removeSaved(w http.ResponseWriter, r *http.Request) {
	p, err := s.savedPair(r.Context(), r.PathValue("id"))
	if err == nil {
		err = s.Confirmed.Remove(p.Scope, p.Question)
	}
	s.done(w, r.PathValue("id"), err)
}

// savedFile is the permanent address of a saved answer: /saved/ID.csv or .json has all of its rows, as the visitor may
// read them.
func (s *Server) savedFile(w http.ResponseWriter, r *http.Request) {
	id, form, _ := strings.Cut(r.PathValue("file"), ".")
	p, err := s.savedPair(r.Context(), id)
	if err == nil && streamed[form] == nil {
		err = missingError("A saved answer ends with .csv, .json or .xlsx.")
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	rows, done, err := s.stream(r.Context(), p.SQL, "saved file "+id+" "+session.NewID())
	if err != nil {
		s.refuse(w, err)
		return
	}
	defer done()
	sendFile(w, "saved-"+id, form)
	sendRows(w, form, rows)
}

// confirmedBy is who confirmed a bare statement, "" where nobody said; the visitor is "you". A record may be of another
// machine, so what this one does not know stays confirmed until it is removed here.
func (s *Server) confirmedBy(pairs []memory.Exemplar, sql string) (who string, confirmed bool) {
	confirmed = !s.Confirmed.Removed(s.Engine.ScopeKey(), sql)
	for _, p := range slices.Backward(pairs) {
		if s.bare(p.SQL) != sql {
			continue
		}
		if confirmed = true; p.By == "" {
			continue
		}
		if p.By == s.Who {
			return "you", true
		}
		return visible(p.By), true
	}
	return "", confirmed
}

// bare is a statement as it is stored when it is confirmed: without outer comments and its semicolon.
func (s *Server) bare(sql string) string {
	if s.DB == nil {
		return strings.TrimRight(strings.TrimSpace(sql), "; \n")
	}
	return strings.Join(s.DB.Language().Text.Split(sql), "; ")
}
