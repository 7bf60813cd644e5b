package web

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/form"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
)

// own is a statement that a person wrote in place of an answer's, with its rows.
type own struct {
	SQL       string `json:"sql"`
	Says      string `json:"says,omitempty"` // what it computes
	Rows      *table `json:"rows"`
	Confirmed bool   `json:"confirmed,omitempty"`
	all       *result.Table
}

// rows gives the rows of an answer, or of the person's own statement: a page of them from a row on, or all as CSV, JSON,
// Markdown or text for a spreadsheet; ordered by a column, and those that contain a text.
func (s *Server) rows(w http.ResponseWriter, r *http.Request) {
	turn, err := strconv.Atoi(r.PathValue("turn"))
	known := s.seen.get(memoKey{r.PathValue("id"), turn})
	q := r.URL.Query()
	var all *result.Table
	switch {
	case err != nil || known == nil:
	case q.Has("own") && known.own != nil:
		all = known.own.all
	case !q.Has("own"):
		all = known.all
	}
	if all == nil {
		answer(w, http.StatusNotFound, problem{"missing", "these rows are not in memory any more; ask for the conversation again"})
		return
	}
	by, _ := strconv.Atoi(q.Get("sort"))
	from, _ := strconv.Atoi(q.Get("from"))
	v := view{all, shapes(all), nil}.arranged(by, q.Has("down"), q.Get("find"))
	if q.Get("form") == "" {
		answer(w, http.StatusOK, v.page(from))
		return
	}
	write, kind := s.form(q.Get("form"), v.exact())
	if write == nil {
		answer(w, http.StatusBadRequest, problem{"request", "the form is csv, tsv, md or json"})
		return
	}
	w.Header().Set("Content-Type", kind)
	if q.Has("save") {
		w.Header().Set("Content-Disposition", `attachment; filename="rows.`+q.Get("form")+`"`)
	}
	write(w) // the client may be gone
}

// form returns what writes a table in a form, and its type. Values are exact; no text is a formula to a spreadsheet.
func (s *Server) form(name string, t *result.Table) (write func(io.Writer) error, kind string) {
	switch name {
	case "csv":
		return form.Escaped(t).WriteCSV, "text/csv; charset=utf-8"
	case "json":
		return func(w io.Writer) error { return json.NewEncoder(w).Encode(t) }, "application/json"
	case "md":
		return func(w io.Writer) error { return form.Markdown(w, t) }, "text/plain; charset=utf-8"
	case "tsv":
		return func(w io.Writer) error {
			fields, safe := csv.NewWriter(w), form.Escaped(t)
			fields.Comma = '\t'
			fields.Write(safe.Columns)
			for _, row := range safe.Rows {
				cells := make([]string, len(row))
				for i, value := range row {
					if value != nil {
						cells[i] = cell(value)
					}
				}
				fields.Write(cells)
			}
			fields.Flush()
			return fields.Error()
		}, "text/plain; charset=utf-8"
	}
	return nil, ""
}

// query runs a statement of the person beside the last answer, under the same guard, policy and limits.
func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	var in struct {
		SQL string `json:"sql"`
	}
	if !read(w, r, &in) {
		return
	}
	rec, err := s.Store.Load(r.Context(), id)
	if err == nil && (len(rec.Turns) == 0 || rec.State != session.Completed && rec.State != session.Failed) {
		err = &texttosql.StateError{Call: "Query", State: rec.State, Hint: "Ask first, or choose"}
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	within, release, err := s.claim(id)
	if err != nil {
		s.refuse(w, err)
		return
	}
	defer release()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(within, cancel)()
	rows, err := s.Engine.Query(ctx, in.SQL, texttosql.WithID(id))
	if err != nil {
		s.refuse(w, err)
		return
	}
	mine := &own{SQL: visible(in.SQL), Says: s.says(in.SQL), Rows: tabled(rows), all: rows}
	s.seen.change(memoKey{id, rec.Last()}, func(k *kept) { k.own = mine })
	answer(w, http.StatusOK, mine)
}

// confirmOwn keeps the person's statement as the answer to a question, in the words given or in those of the question.
func (s *Server) confirmOwn(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Text string `json:"text"`
	}
	if !read(w, r, &in) {
		return
	}
	rec, err := s.Store.Load(r.Context(), r.PathValue("id"))
	if err != nil {
		s.refuse(w, err)
		return
	}
	at := memoKey{rec.ID, rec.Last()}
	known := s.seen.get(at)
	if known == nil || known.own == nil {
		answer(w, http.StatusNotFound, problem{"missing", "there is no statement of yours; run it again"})
		return
	}
	if asked := rec.Turns[rec.Turn()]; in.Text == "" && asked.Kind == session.TurnFollowUp {
		err = texttosql.ErrNotStandalone
	} else {
		if in.Text == "" {
			in.Text = asked.Text
		}
		err = s.Engine.Confirm(r.Context(), in.Text, known.own.SQL)
	}
	if err != nil && !errors.Is(err, texttosql.ErrForgotten) {
		s.refuse(w, err)
		return
	}
	s.seen.change(at, func(k *kept) {
		mine := *known.own
		mine.Confirmed = true
		k.own = &mine
	})
	answer(w, http.StatusOK, struct{}{})
}
