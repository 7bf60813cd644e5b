package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/xlsx"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/periods"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
)

// own is what a statement computes that the person wrote, with its rows.
type own struct {
	Closing string `json:"closing"` // the evidence, as a sentence
	Says    string `json:"says,omitempty"`
	Found   string `json:"found,omitempty"` // what the rows show
	Rows    *table `json:"rows,omitempty"`
}

// rows gives the rows of an answer, or of a statement of the person: a page of them from a row on, or all as CSV, JSON,
// XLSX, Markdown or text for a spreadsheet; ordered by a column, and those that contain a text.
func (s *Server) rows(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	turn, err := place(r.PathValue("turn"))
	by, berr := place(q.Get("sort"))
	from, ferr := place(q.Get("from"))
	err = cmp.Or(err, berr, ferr)
	var all *result.Table
	if err == nil {
		all, err = s.all(r.Context(), memoKey{r.PathValue("id"), turn})
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	all = all.Shown()
	v := view{all, shapes(all), nil}.arranged(by, q.Has("down"), q.Get("find"))
	if q.Get("form") == "" {
		answer(w, http.StatusOK, v.page(from))
		return
	}
	write := form(q.Get("form"), v.exact())
	if write == nil {
		answer(w, http.StatusBadRequest, problem{"request", "the form is csv, tsv, md, json or xlsx"})
		return
	}
	if q.Has("save") {
		s.save(w, r, memoKey{r.PathValue("id"), turn}, v, write)
		return
	}
	if text, ok := written(w, write); ok {
		w.Header().Set("Content-Type", kinds[q.Get("form")])
		w.Write(text) // the client may be gone
	}
}

// written is a file of rows that are in memory. Where it cannot be written, the client gets the reason.
func written(w http.ResponseWriter, write func(io.Writer) error) (text []byte, ok bool) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		answer(w, http.StatusUnprocessableEntity, problem{"input", err.Error()})
		return nil, false
	}
	return b.Bytes(), true
}

// place reads a number of a path or a query; "" is 0. There is nothing at the place of one that cannot be read.
func place(text string) (n int, err error) {
	if text == "" {
		return 0, nil
	}
	if n, err = strconv.Atoi(text); err != nil {
		err = missingError(fmt.Sprintf("There is nothing at %q.", text))
	}
	return n, err
}

// all returns the rows of a turn. Those that are in memory no more are read again.
func (s *Server) all(ctx context.Context, at memoKey) (*result.Table, error) {
	if known := s.seen.get(at); known != nil && known.all != nil {
		return known.all, nil
	}
	rec, err := s.Store.Load(ctx, at.id)
	if err != nil {
		return nil, err
	}
	sql := statementOf(rec, at.turn)
	if sql == "" {
		return nil, missingError(fmt.Sprintf("This conversation has no answer %d.", at.turn))
	}
	ctx, release, err := s.work(ctx, at.id+" "+strconv.Itoa(at.turn)) // beside what the conversation does
	if err != nil {
		return nil, err
	}
	defer release()
	rows, err := s.Engine.Query(ctx, sql)
	if err == nil {
		s.markShares(rec, at.turn, rows)
		s.seen.change(at, func(k *kept) { k.Rows, k.all = s.tabled(sql, rows), rows })
	}
	return rows, err
}

// markShares marks what the engine marked when it answered the question of a turn.
func (s *Server) markShares(rec session.Record, turn int, rows *result.Table) {
	upTo := session.Record{Turns: rec.Turns[:turn+1]}
	asked := upTo.Turn()
	if s.DB != nil && asked >= 0 && rec.Turns[turn].Kind != dialogue.TurnStatement {
		periods.MarkShares(s.DB.Language().Text.Parse(statementOf(rec, turn)), rec.Turns[asked].Text, rows)
	}
}

// form returns what writes a table in a form; nil: there is no such form. Values are exact; no text is a formula to a
// spreadsheet.
func form(name string, t *result.Table) (write func(io.Writer) error) {
	switch name {
	case "csv":
		return textformat.Escaped(t).WriteCSV
	case "json":
		return func(w io.Writer) error { return json.NewEncoder(w).Encode(t) }
	case "xlsx":
		return func(w io.Writer) error { return xlsx.WriteTable(w, t) }
	case "md":
		return func(w io.Writer) error { return textformat.Markdown(w, t) }
	case "tsv":
		return func(w io.Writer) error {
			fields, safe := csv.NewWriter(w), textformat.Escaped(t)
			fields.Comma = '\t'
			fields.Write(safe.Columns)
			for _, row := range safe.Rows {
				cells := make([]string, len(row))
				for i, value := range row {
					if value != nil {
						cells[i] = words.Plain(value)
					}
				}
				fields.Write(cells)
			}
			fields.Flush()
			return fields.Error()
		}
	}
	return nil
}

// query runs a statement of the person, under the same guard, policy and limits, and keeps it in the conversation, a
// new one without an id. It takes the place of the one before where that was not confirmed.
func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	var in struct {
		SQL      string `json:"sql"`
		Question string `json:"question"` // what a new conversation is called
	}
	if !read(w, r, &in) {
		return
	}
	rec, err := s.rewrite(r.Context(), r.PathValue("id"), func(ctx context.Context, rec *session.Record) error {
		if rec.State.Active() && rec.State != dialogue.Initializing {
			return &session.StateError{Call: "Query", State: rec.State, Hint: "Go on with the question first"}
		}
		leave, err := s.enter(ctx, rec.ID)
		if err != nil {
			return err
		}
		defer leave()
		rows, err := s.Engine.Query(ctx, in.SQL, texttosql.WithID(rec.ID))
		if err != nil {
			return err
		}
		rec.Title = cmp.Or(rec.Title, words.Cut(strings.TrimSpace(in.Question), maxTitle))
		n := len(rec.Turns)
		if n > 0 && rec.Turns[n-1].Kind == dialogue.TurnStatement && !rec.Turns[n-1].Confirmed {
			n--
		}
		rec.Updated, rec.Scope = time.Now(), s.Engine.ScopeKey()
		rec.Turns = append(rec.Turns[:n], session.Turn{Kind: dialogue.TurnStatement, At: rec.Updated, Text: in.SQL})
		s.seen.put(memoKey{rec.ID, n}, &kept{details: details{Rows: s.tabled(in.SQL, rows)}, all: rows})
		return nil
	})
	s.done(w, rec.ID, err)
}

// confirmOwn keeps a statement of the person as the answer to a question, in the words given or in those of the
// question before it.
func (s *Server) confirmOwn(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Turn int    `json:"turn"`
		Text string `json:"text"`
	}
	if !read(w, r, &in) {
		return
	}
	rec, err := s.rewrite(r.Context(), r.PathValue("id"), func(ctx context.Context, rec *session.Record) error {
		if in.Turn < 0 || in.Turn >= len(rec.Turns) || rec.Turns[in.Turn].Kind != dialogue.TurnStatement {
			return missingError(fmt.Sprintf("This conversation has no statement %d.", in.Turn))
		}
		before := session.Record{Turns: rec.Turns[:in.Turn]}
		if i := before.Turn(); in.Text == "" && i >= 0 && before.Turns[i].Kind == dialogue.TurnQuestion {
			in.Text = before.Turns[i].Text
		}
		if in.Text == "" {
			return session.ErrNotStandalone
		}
		if err := s.Engine.Confirm(ctx, in.Text, rec.Turns[in.Turn].Text, texttosql.WithUser(s.Who)); err != nil &&
			!errors.Is(err, memory.ErrNotPersisted) {
			return err
		}
		rec.Turns[in.Turn].Confirmed = true
		return nil
	})
	s.done(w, rec.ID, err)
}
