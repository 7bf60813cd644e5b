package pgstore

import (
	"strconv"

	"github.com/texttosql/texttosql/memory"
)

// VerifiedAnswers is a store of verified answers for memory.VerifiedAnswersOn. Processes that give the same name share
// them; any name will do. Each question reads the answers that were added since the last one. An answer, or its
// removal, adds one row; no row changes.
func (s *Store) VerifiedAnswers(name string) memory.AnswerStore { return answers{s, name} }

type answers struct {
	s    *Store
	name string
}

// String is memory.AnswerStore.String.
func (a answers) String() string { return "table texttosql_answers, name " + strconv.Quote(a.name) }

// Append is memory.AnswerStore.Append. Two rows never have one place, and a row is added only after the one before it
// is committed. So nobody reads a row without all rows before it.
func (a answers) Append(lines []byte) error {
	ctx, cancel := bounded()
	defer cancel()
	for {
		done, err := a.s.db.ExecContext(ctx, `INSERT INTO texttosql_answers SELECT $1, coalesce((SELECT place + length(lines)
			FROM texttosql_answers WHERE name = $1 ORDER BY place DESC LIMIT 1), 0), $2 ON CONFLICT DO NOTHING`, a.name, lines)
		if err != nil || affected(done) == 1 {
			return told(ctx, err)
		}
	}
}

// Read is memory.AnswerStore.Read.
func (a answers) Read(after int64) (text []byte, err error) {
	ctx, cancel := bounded()
	defer cancel()
	err = a.s.db.QueryRowContext(ctx, "SELECT string_agg(lines, '' ORDER BY place) FROM texttosql_answers "+
		"WHERE name = $1 AND place >= $2",
		a.name, after).Scan(&text)
	return text, told(ctx, err)
}
