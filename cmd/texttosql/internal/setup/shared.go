package setup

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/texttosql/texttosql/session/pgstore"
)

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
