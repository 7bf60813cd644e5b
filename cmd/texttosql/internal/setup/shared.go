package setup

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/session/pgstore"
)

// OpenSessions opens what --sessions names, a folder or PostgreSQL. said is the place without a password.
func OpenSessions(ctx context.Context, place string) (store session.Store, said string, end func() error, err error) {
	if IsShared(place) {
		shared, err := OpenShared(ctx, "sessions", place)
		if err != nil {
			return nil, "", nil, err
		}
		return shared, "postgres://…", shared.Close, nil
	}
	files, err := session.OpenFiles(place)
	if err != nil {
		return nil, "", nil, &UsageError{fmt.Errorf("--sessions %s: %w", place, cli.PathlessError(err))}
	}
	return files, place, func() error { return nil }, nil
}

// IsShared reports whether a flag that takes a file or a folder names PostgreSQL in its place.
func IsShared(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// OpenShared opens what several processes keep on PostgreSQL, within 10 seconds.
func OpenShared(ctx context.Context, flag, dsn string) (*pgstore.Store, error) {
	bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	store, err := pgstore.Open(bounded, dsn, pgstore.Config{})
	if err != nil {
		return nil, &UsageError{fmt.Errorf("--%s: %w", flag, err)}
	}
	return store, nil
}
