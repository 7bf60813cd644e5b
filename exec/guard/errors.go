package guard

import (
	"errors"
	"strings"

	"github.com/texttosql/texttosql/internal/execerr"
)

// ErrStale reports that the catalog is older than the schema in which the engine reads the statement. exec then reads
// the catalog and checks the statement again.
var ErrStale = errors.New("exec: the catalog is old")

// Masked returns a message without the text between the first opening mark and the last closing mark. An engine's
// error about a running statement may repeat stored values in this text.
func Masked(message, opening, closing string) string {
	i, j := strings.IndexAny(message, opening), strings.LastIndexAny(message, closing)
	switch {
	case i < 0:
		return message
	case j <= i:
		return message[:i+1] + "…"
	}
	return message[:i+1] + "…" + message[j:]
}

// Refuse returns an *exec.RefusedError. The reason "not-read-only" sets Writes.
func Refuse(reason string, format string, args ...any) *execerr.RefusedError {
	return execerr.Refuse(reason, format, args...)
}
