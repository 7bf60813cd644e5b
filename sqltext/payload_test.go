package sqltext_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/sqltext"
)

// payload is one line of security/payloads.jsonl.
type payload struct {
	ID, Engine, Expect, Where, Why string
	Text, Want                     *string
	Base64                         *string
	Generator                      *struct {
		Prefix, Repeat, Middle, Close, Suffix string
		Times                                 int
	}
}

func (p payload) body(t *testing.T) string {
	t.Helper()
	switch {
	case p.Text != nil:
		return *p.Text
	case p.Base64 != nil:
		b, err := base64.StdEncoding.DecodeString(*p.Base64)
		if err != nil {
			t.Fatalf("%s: %v", p.ID, err)
		}
		return string(b)
	case p.Generator != nil:
		g := p.Generator
		return g.Prefix + strings.Repeat(g.Repeat, g.Times) + g.Middle + strings.Repeat(g.Close, g.Times) + g.Suffix
	}
	t.Fatalf("%s: no text", p.ID)
	return ""
}

// dataDir returns the folder of the evaluation data, or skips the test.
func dataDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("TEXTTOSQL_DATA")
	if dir == "" {
		t.Skip("TEXTTOSQL_DATA is not set: no evaluation data")
	}
	return dir
}

func payloads(t *testing.T) []payload {
	t.Helper()
	f, err := os.Open(filepath.Join(dataDir(t), "security", "payloads.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []payload
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var p payload
		if err := json.Unmarshal(in.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func dialectOf(engine string) (d sqltext.Dialect, ok bool) {
	switch engine {
	case "sqlite":
		return sqltext.SQLite(), true
	case "postgres":
		return sqltext.PostgreSQL(), true
	case "mysql":
		return sqltext.MySQL(), true
	case "duckdb":
		return sqltext.DuckDB(), true
	case "bigquery":
		return sqltext.BigQuery(), true
	}
	return sqltext.Dialect{}, false
}

// stoppedByText reports whether the text check must stop a sqlite item that is
// to be refused. The others are one harmless-looking SELECT each: the engine's
// own checks are there for them.
func stoppedByText(p payload) bool {
	n := strings.TrimPrefix(p.ID, "sqlite-")
	return n <= "060" || n >= "090" && n <= "096" || n >= "099" && n <= "113"
}

func TestCheckPayloads(t *testing.T) {
	refused := 0
	for _, p := range payloads(t) {
		d, ok := dialectOf(p.Engine)
		if !ok {
			continue
		}
		t.Run(p.ID, func(t *testing.T) {
			got, err := d.Check(p.body(t))
			if err != nil {
				refused++
				if p.Expect == "accept" {
					t.Errorf("%s: %v", p.Why, err)
				}
				return
			}
			if p.Expect == "refuse" && p.Engine == "sqlite" && stoppedByText(p) {
				t.Errorf("%s: accepted %q", p.Why, got)
			}
			if again, err := d.Check(got); err != nil || again != got {
				t.Errorf("checking the result again gives %q, %v", again, err)
			}
		})
	}
	t.Logf("%d items refused by their text", refused)
}

func TestExtractPayloads(t *testing.T) {
	for _, p := range payloads(t) {
		if p.Engine != "prompt" || p.Where != "reply" {
			continue
		}
		t.Run(p.ID, func(t *testing.T) {
			got, err := sqltext.Extractor{}.Extract(p.body(t))
			var reply *sqltext.ReplyError
			switch {
			case err != nil && !errors.As(err, &reply):
				t.Errorf("%s: untyped error %v", p.Why, err)
			case p.Expect == "accept" && (err != nil || got.SQL != *p.Want):
				t.Errorf("%s: got %q, %v, want %q", p.Why, got.SQL, err, *p.Want)
			case p.Expect == "refuse" && err == nil:
				t.Errorf("%s: got %q", p.Why, got.SQL)
			}
		})
	}
}
