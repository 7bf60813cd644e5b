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

// save sends the rows as a file: all rows, read anew where v has the first ones alone; what is ordered or searched with those that v
// has, and then the name says how many.
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
	if v.Truncated && (as == "csv" || as == "json") && q.Get("sort") == "" && q.Get("find") == "" {
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
	} else if err := writeStream(w, rows, streamed[as]); err != nil {
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

// pieces is a form of a file whose rows can be written some hundred at a time.
type pieces struct {
	encode  func(*result.Table) ([]byte, error)
	between string // what stands between rows
	end     string // what stands behind them
}

var streamed = map[string]pieces{
	"csv": {func(t *result.Table) ([]byte, error) {
		var text bytes.Buffer
		err := form.Escaped(t).WriteCSV(&text)
		return text.Bytes(), err
	}, "", ""},
	"json": {func(t *result.Table) ([]byte, error) { return t.JSON(result.JSONOptions{}), nil }, ",", "]}"},
}

// writeStream writes rows in a form, some hundred at a time.
func writeStream(w io.Writer, rows *result.Stream, as pieces) error {
	part := &result.Table{Columns: rows.Columns, Types: rows.Types}
	head, err := as.encode(part)
	if err != nil {
		return err
	}
	before := len(head) - len(as.end)
	if _, err := w.Write(head[:before]); err != nil {
		return err
	}
	between := ""
	write := func() error {
		text, err := as.encode(part.Shown())
		if err != nil || len(part.Rows) == 0 {
			return err
		}
		part.Rows = part.Rows[:0]
		_, err = io.WriteString(w, between+string(text[before:len(text)-len(as.end)]))
		between = as.between
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
	if err := write(); err != nil {
		return err
	}
	_, err = io.WriteString(w, as.end)
	return err
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
