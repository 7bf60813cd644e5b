package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/form"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
)

// maxName bounds the part of a file's name that is the question, in characters.
const maxName = 60

// save sends the rows as a file: CSV with all rows, read anew where v has the first ones alone; what is ordered or searched, and JSON,
// with those that v has, and then the name says how many.
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
	if v.Truncated && as == "csv" && q.Get("sort") == "" && q.Get("find") == "" {
		var done func()
		if rows, done, err = s.stream(r.Context(), rec, at); err != nil {
			s.refuse(w, err)
			return
		}
		defer done()
	} else if v.Truncated { // it must not look whole
		name += fmt.Sprintf("-first-%d", len(v.Rows))
	}
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q; filename*=UTF-8''%s", ascii(name)+"."+as, escaped(name)+"."+as))
	if as == "csv" {
		io.WriteString(w, form.BOM)
	}
	if rows == nil {
		write(w) // the client may be gone
	} else if err := writeStream(w, rows); err != nil {
		panic(http.ErrAbortHandler) // the browser tells that the file is not whole
	}
}

// stream runs the statement of a turn again, for all of its rows.
func (s *Server) stream(ctx context.Context, rec session.Record, at memoKey) (rows *result.Stream, done func(), err error) {
	ctx, release, err := s.work(ctx, at.id+" "+strconv.Itoa(at.turn))
	if err != nil {
		return nil, nil, err
	}
	if rows, err = s.Engine.Stream(ctx, statementOf(rec, at.turn)); err != nil {
		release()
		return nil, nil, err
	}
	return rows, func() { rows.Close(); release() }, nil
}

// writeStream writes CSV, some hundred rows at a time, without formulas.
func writeStream(w io.Writer, rows *result.Stream) error {
	part := &result.Table{Columns: rows.Columns, Types: rows.Types}
	var text bytes.Buffer
	if err := form.Escaped(part).WriteCSV(&text); err != nil {
		return err
	}
	head := text.Len()
	if _, err := w.Write(text.Bytes()); err != nil {
		return err
	}
	write := func() error {
		text.Reset()
		if err := form.Escaped(part.Shown()).WriteCSV(&text); err != nil {
			return err
		}
		part.Rows = part.Rows[:0]
		_, err := w.Write(text.Bytes()[head:])
		return err
	}
	for row, err := range rows.Rows() {
		if err != nil {
			return err
		}
		if part.Rows = append(part.Rows, row); len(part.Rows) == 256 {
			if err := write(); err != nil {
				return err
			}
		}
	}
	return write()
}

// statementOf is the SQL of a turn; "": it has none.
func statementOf(rec session.Record, turn int) string {
	if turn < 0 || turn >= len(rec.Turns) {
		return ""
	}
	if t := rec.Turns[turn]; t.Kind == session.TurnStatement {
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
		if t.Kind == session.TurnStatement {
			break
		}
		if t.Kind != session.TurnQuestion && t.Kind != session.TurnFollowUp {
			continue
		}
		words := strings.FieldsFunc(strings.ToLower(t.Text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) })
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

// escaped is a name of letters, digits and "-" as RFC 5987 writes it.
func escaped(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c < 0x80 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
