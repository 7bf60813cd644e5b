package cli_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// numbers is a database of one table.
func numbers(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(t.TempDir(), "numbers.db"))
	if err == nil {
		_, err = db.Exec("CREATE TABLE numbers(n INTEGER)")
		t.Cleanup(func() { db.Close() })
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestLine: a line is there before the first reply, counts samples, is written anew, and is gone at the end.
func TestLine(t *testing.T) {
	db := numbers(t)
	var out safe
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		if req.Sample == 0 && !strings.Contains(out.String(), "reading the schema · 0 s") {
			t.Errorf("before the first reply: %q", out.String())
		}
		return llm.Response{Text: "SELECT 1"}, nil
	})
	engine, err := texttosql.New(db, model,
		texttosql.WithStrategy(strategy.Pipeline{Sampler: strategy.Sampler{Samples: 3, Temperature: 0.7}}),
		texttosql.WithProgress(cli.Line(&out)))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := engine.Ask(t.Context(), "How many?"); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if !strings.Contains(text, "\r\x1b[Kasking the model 3/3 · ") || !strings.HasSuffix(text, "\r\x1b[K") ||
			strings.Contains(text, "\n") {
			t.Errorf("%q", text)
		}
		out.Reset()
	}
}

// safe is a buffer that several goroutines write.
type safe struct {
	mu sync.Mutex
	strings.Builder
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Builder.Write(p)
}

func (s *safe) WriteString(p string) (int, error) { return s.Write([]byte(p)) }

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Builder.String()
}

// TestProgressIsForTerminals: nothing is written into a file or a pipe.
func TestProgressIsForTerminals(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a device of characters, as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	if cli.Progress(file) != nil || cli.Progress(&strings.Builder{}) != nil || cli.Progress(device) == nil {
		t.Error("a file, a buffer or a device is taken for what it is not")
	}
}

// TestLineOfABusyModel: while a call waits to be tried again, the line says so.
func TestLineOfABusyModel(t *testing.T) {
	var out safe
	var calls atomic.Int32
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		if calls.Add(1) == 1 {
			return llm.Response{}, &llm.Error{Class: llm.ClassRateLimit}
		}
		return llm.Response{Text: "SELECT 1"}, nil
	})
	engine, err := texttosql.New(numbers(t), model, texttosql.WithSamples(1), texttosql.WithProgress(cli.Line(&out)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Ask(t.Context(), "How many?"); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "the model is busy, trying again in 1 s") {
		t.Errorf("%q", text)
	}
}
