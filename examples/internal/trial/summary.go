package trial

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/words"
)

// Summary says what happened to all statements.
type Summary struct {
	Statements int      `json:"statements"`
	Skipped    int      `json:"skipped"` // lines for other engines
	Refused    int      `json:"refused"`
	Failed     int      `json:"failed"`
	Answered   int      `json:"answered"`
	Longest    float64  `json:"longest_sec"`
	Most       float64  `json:"most_mib"`
	Expected   int      `json:"expected"`   // lines that say what to expect
	Unexpected []string `json:"unexpected"` // ids of lines for which something else happened
	Unchanged  bool     `json:"unchanged"`  // what the target looks at is as before
}

// Count adds what happened to one statement.
func (s *Summary) Count(item Statement, v Verdict, deadline time.Duration) {
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

func (s Summary) write(w io.Writer, asJSON bool, what string) error {
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
	fmt.Fprintf(w, "\n%s are %s\n", what, state)
	return err
}
