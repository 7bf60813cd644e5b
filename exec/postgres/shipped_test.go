package postgres_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestShipped: see dialecttest.Shipped.
func TestShipped(t *testing.T) {
	const wiki = "usr/share/mediawiki/maintenance/postgres/"
	for _, of := range []struct {
		pkg   string
		paths []string
		least int
	}{
		{"mediawiki", []string{wiki + "tables-generated.sql", wiki + "tables.sql"}, 50},
		{"matrix-synapse", []string{"synapse/storage/schema/main/full_schemas/72/full.sql.postgres"}, 120},
		{"roundcube-core", []string{"usr/share/roundcube/SQL/postgres.initial.sql"}, 15},
	} {
		t.Run(of.pkg, func(t *testing.T) {
			script := ""
			for _, path := range of.paths {
				script += dialecttest.Packaged(t, path, of.pkg) + ";\n"
			}
			pool, _ := open(t, script+"COMMIT") // MediaWiki begins a transaction
			dialecttest.Shipped(t, newDB(t, pool, exec.Config{}), of.least)
		})
	}
}
