package eval

import (
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/fileerr"
)

// FuzzRead: whatever a file holds, reading it ends, without a panic, in answers
// or in one error that names the file.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"run": "r", "qid": 1, "db_id": "d", "sql": "SELECT 1", "label": 1, "exec": {"status": "ok", "nrows": 1}}` + "\n",
		`[{"question_id": 0, "db_id": "d", "question": "A", "SQL": "SELECT 1"}, {"x": [1, {"y": "}"}]}]`,
		"{\"0\": \"SELECT 1\\t----- bird -----\\td\", \"1\": 0}",
		"id,question,sql\n1,\"a\nb\",SELECT 1\n",
		"SELECT 1\td\n\nSELECT 2\n",
		"\xef\xbb\xbf{\"qid\": \"\\u00e9\", \"sql\": null}",
		"\x1f\x8b\x08\x00",
		`{"a": 1, "a": 2, "b": nul}`,
	} {
		for _, name := range []string{"x.jsonl", "x.json", "x.csv", "x.sql", "x.txt"} {
			f.Add(name, s)
		}
	}
	f.Fuzz(func(t *testing.T, name, content string) {
		check := func(err error) {
			var file *fileerr.Questions
			if err != nil && (!errors.As(err, &file) || file.File != name) {
				t.Fatalf("error %v is no error about %q", err, name)
			}
		}
		s, err := newSource(name, strings.NewReader(content))
		check(err)
		if err != nil {
			return
		}
		failed := false
		s.answers(func(a Answer, err error) bool {
			if failed {
				t.Fatal("an answer after an error")
			}
			failed = err != nil
			check(err)
			if err == nil && (a.Line < 1 || a.Place < 0 && a.Question == "") {
				t.Fatalf("an answer to nothing, or from nowhere: %+v", a)
			}
			return true
		})
		if s, err = newSource(name, strings.NewReader(content)); err == nil {
			d, err := s.dataset()
			check(err)
			if err == nil && len(d.Questions) == 0 {
				t.Fatal("no question and no error")
			}
		}
	})
}
