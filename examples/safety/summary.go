package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/words"
)

type pool = *sql.DB

// ready returns an error if no statement can run on pool.
func ready(ctx context.Context, pool pool) error {
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		return err
	}
	if err := db.Ready(ctx); err != nil {
		return err
	}
	_, err = db.Schema(ctx)
	return err
}

// summary says what happened to all statements.
type summary struct {
	Statements int      `json:"statements"`
	Skipped    int      `json:"skipped"` // lines for other engines
	Refused    int      `json:"refused"`
	Failed     int      `json:"failed"`
	Answered   int      `json:"answered"`
	Longest    float64  `json:"longest_sec"`
	Most       float64  `json:"most_mib"`
	Expected   int      `json:"expected"`   // lines that say what to expect
	Unexpected []string `json:"unexpected"` // ids of lines for which something else happened
	Unchanged  bool     `json:"unchanged"`  // neither the database file nor the names of the files beside it changed
}

func (s *summary) count(item statement, v verdict, deadline time.Duration) {
	switch v.Verdict {
	case refused:
		s.Refused++
	case failed:
		s.Failed++
	case answered:
		s.Answered++
	}
	s.Longest, s.Most = max(s.Longest, v.Seconds), max(s.Most, v.MiB)
	as := true
	switch item.Expect {
	case "":
		return
	case "refuse":
		as = v.Verdict == refused
	case "accept":
		as = v.Verdict == answered && (item.Rows == nil || *item.Rows == v.Rows)
	case "survive":
		as = v.Seconds <= 1.15*deadline.Seconds() && v.MiB < 64
	}
	s.Expected++
	if !as {
		s.Unexpected = append(s.Unexpected, item.ID)
	}
}

func (s summary) write(w io.Writer, asJSON bool) error {
	if asJSON {
		if s.Unexpected == nil {
			s.Unexpected = []string{}
		}
		return json.NewEncoder(w).Encode(s)
	}
	_, err := fmt.Fprintf(w, "%d statements: %d refused, %d failed, %d answered; longest %.2f s, most memory %.0f MiB",
		s.Statements, s.Refused, s.Failed, s.Answered, s.Longest, s.Most)
	if s.Skipped > 0 {
		fmt.Fprintf(w, "; %d lines for other engines skipped", s.Skipped)
	}
	if s.Expected > 0 {
		fmt.Fprintf(w, "\n%d of %d did what the file expects", s.Expected-len(s.Unexpected), s.Expected)
		if len(s.Unexpected) > 0 {
			shown := s.Unexpected[:min(10, len(s.Unexpected))]
			fmt.Fprintf(w, "; not so %s", words.Clean(strings.Join(shown, ", ")))
			if more := len(s.Unexpected) - len(shown); more > 0 {
				fmt.Fprintf(w, " and %d more", more)
			}
		}
	}
	state := "unchanged"
	if !s.Unchanged {
		state = "NOT as before"
	}
	fmt.Fprintf(w, "\nthe database file and the folder it is in are %s\n", state)
	return err
}

// lookAt returns a text that changes with the content of a file and with the names of the files beside it.
func lookAt(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		// Reading a database in WAL mode makes these two files.
		if base := filepath.Base(path); e.Name() != base+"-wal" && e.Name() != base+"-shm" {
			names = append(names, e.Name())
		}
	}
	return fmt.Sprintf("%x %q", hash.Sum(nil), names), nil
}
