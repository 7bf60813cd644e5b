package web

import (
	"net/http"
	"slices"
	"time"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/memory"
)

// answerSaved is a question with the statement that a person found right.
type answerSaved struct {
	Question string     `json:"question"`
	SQL      string     `json:"sql"`
	By       string     `json:"by,omitempty"`
	At       *time.Time `json:"at,omitempty"`
}

// maxSaved bounds the saved answers that the page lists.
const maxSaved = 200

// board gives the answers that were confirmed in this scope, the latest first.
func (s *Server) board(w http.ResponseWriter, r *http.Request) {
	out := struct {
		Answers []answerSaved `json:"answers"`
	}{[]answerSaved{}}
	pairs, err := s.Confirmed.PairsOf(s.Engine.ScopeKey())
	if err != nil {
		s.refuse(w, err)
		return
	}
	for _, p := range slices.Backward(pairs) {
		if len(out.Answers) == maxSaved {
			break
		}
		out.Answers = append(out.Answers, answerSaved{visible(words.Short(words.Line(p.Question), 500)), p.SQL, visible(p.By), p.At})
	}
	answer(w, http.StatusOK, out)
}

// confirmedBy is who confirmed a statement, "" where nobody said; the visitor is "you".
func (s *Server) confirmedBy(pairs []memory.Pair, sql string) string {
	for _, p := range slices.Backward(pairs) {
		if p.SQL != sql || p.By == "" {
			continue
		}
		if p.By == s.Who {
			return "you"
		}
		return visible(p.By)
	}
	return ""
}
