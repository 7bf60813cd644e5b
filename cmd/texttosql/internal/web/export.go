package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/xlsx"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
)

// maxName bounds the part of a file's name that is the question, in characters.
const maxName = 60

// save sends the rows as a file: all rows, read anew where v has the first ones alone; what is ordered or searched with
// those that v has, and then the name says how many.
func (s *Server) save(w http.ResponseWriter, r *http.Request, at memoKey, v view, write func(io.Writer) error) {
	q := r.URL.Query()
	as := q.Get("form")
	rec, err := s.Store.Load(r.Context(), at.id)
	if err != nil {
		s.refuse(w, err)
		return
	}
	name := fileName(rec, at.turn) + "-" + time.Now().Format(time.DateOnly)
	var rows *result.Stream
	if _, can := streamed[as]; v.Truncated && can && strings.Trim(q.Get("sort"), "0") == "" && q.Get("find") == "" {
		var done func()
		if rows, done, err = s.stream(r.Context(), statementOf(rec, at.turn), at.id+" "+strconv.Itoa(at.turn)); err != nil {
			s.refuse(w, err)
			return
		}
		defer done()
	} else if v.Truncated { // it must not look whole
		name += fmt.Sprintf("-first-%d", len(v.Rows))
	}
	var text []byte
	if rows == nil {
		var ok bool
		if text, ok = written(w, write); !ok {
			return
		}
	}
	sendFile(w, name, as)
	if rows == nil {
		w.Write(text) // the client may be gone
	} else {
		sendRows(w, as, rows)
	}
}

// sendRows streams rows in a form.
func sendRows(w http.ResponseWriter, form string, rows *result.Stream) {
	if err := streamed[form](dueWriter{w}, rows); err != nil {
		panic(http.ErrAbortHandler) // the browser tells that the file is not whole
	}
}

// maxPart is how long a client may take to read a part of a file, which holds one of the places of files.
const maxPart = 30 * time.Second

// dueWriter writes to clients that go on reading.
type dueWriter struct{ http.ResponseWriter }

func (w dueWriter) Write(text []byte) (n int, err error) {
	for part := range slices.Chunk(text, 16<<10) {
		// not every writer has a deadline
		http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(maxPart))
		written, err := w.ResponseWriter.Write(part)
		if n += written; err != nil {
			return n, err
		}
	}
	return n, nil
}

// sendFile says that a file of that name and form follows, and begins it.
func sendFile(w http.ResponseWriter, name, form string) {
	name += "." + form
	w.Header().Set("Content-Type", kinds[form])
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q; filename*=UTF-8''%s", ascii(name),
		url.PathEscape(name)))
	if form == "csv" {
		io.WriteString(w, textformat.BOM)
	}
}

// stream runs a statement for all of its rows, under a name of that work. A client may read them slowly, so fewer files
// are sent at a time than there are connections, and none takes the place of a question.
func (s *Server) stream(ctx context.Context, sql, name string) (rows *result.Stream, done func(), err error) {
	ctx, release, err := s.claim(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	select {
	case s.Files <- struct{}{}:
	default:
		release()
		return nil, nil, errFull
	}
	end := func() { <-s.Files; release() }
	if rows, err = s.Engine.Stream(ctx, sql); err != nil {
		end()
		return nil, nil, err
	}
	return rows, func() { rows.Close(); end() }, nil
}

// streamed are the forms of a file whose rows are written as they come.
var streamed = map[string]func(io.Writer, *result.Stream) error{
	"csv": func(w io.Writer, rows *result.Stream) error {
		return textformat.Stream(w, rows, "", "", func(t *result.Table) ([]byte, error) {
			var text bytes.Buffer
			err := textformat.Escaped(t.Shown()).WriteCSV(&text)
			return text.Bytes(), err
		})
	},
	"json": func(w io.Writer, rows *result.Stream) error {
		return textformat.Stream(w, rows, ",", "]}", func(t *result.Table) ([]byte, error) {
			return t.Shown().JSON(result.JSONOptions{}), nil
		})
	},
	"xlsx": xlsx.Write,
}

// kinds are the types of the forms in which the page gives rows.
var kinds = map[string]string{
	"csv": "text/csv; charset=utf-8", "json": "application/json",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"md":   "text/plain; charset=utf-8", "tsv": "text/plain; charset=utf-8",
}

// statementOf is the SQL of a turn; "": it has none.
func statementOf(rec session.Record, turn int) string {
	if turn < 0 || turn >= len(rec.Turns) {
		return ""
	}
	if t := rec.Turns[turn]; t.Kind == dialogue.TurnStatement {
		return t.Text
	} else if t.Answer != nil {
		return t.Answer.SQL
	}
	return ""
}

// fileName makes words of the question of a turn, with - between them; "rows" where it is none.
func fileName(rec session.Record, turn int) string {
	for ; turn >= 0 && turn < len(rec.Turns); turn-- {
		t := rec.Turns[turn]
		if t.Kind == dialogue.TurnStatement {
			break
		}
		if t.Kind != dialogue.TurnQuestion && t.Kind != dialogue.TurnFollowUp {
			continue
		}
		words := strings.FieldsFunc(strings.ToLower(t.Text), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
		})
		name := []rune(strings.Join(words, "-"))
		if len(name) > maxName {
			name = name[:maxName]
		}
		if text := strings.Trim(string(name), "-"); text != "" {
			return text
		}
	}
	return "rows"
}

// ascii is a name for clients that read no other.
func ascii(name string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return '_'
		}
		return r
	}, name)
}
