package trino

import (
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// Look is what the guard decides before it asks the server, on a connection at memory.default.
func Look(d Dialect, p exec.Policy, s *sqltext.Statement) error {
	h := held{guard: &guard{dialect: d, config: exec.GuardConfig{Policy: p}}, at: home{"memory", "default"}}
	_, err := h.look(s, false)
	return err
}

var (
	Limits    = limits
	HeadersOf = headersOf
	Unshifted = unshifted
	Bound     = bound
	Mentioned = mentioned
)
