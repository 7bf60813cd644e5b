package mysql_test

import (
	"regexp"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// routines are functions and triggers, between words that only the client knows, and a line of Cacti that calls one.
var routines = regexp.MustCompile(`(?ms)^DELIMITER [^;].*?(^DELIMITER ;|\z)|^SELECT IF\(NOAUTOCREATENEEDED[^\n]*`)

// TestShipped: see dialecttest.Shipped.
func TestShipped(t *testing.T) {
	for _, of := range []struct {
		path, pkg string
		least     int
	}{
		{"usr/share/zabbix-server-mysql/schema.sql.gz", "zabbix-server-mysql", 160},
		{"usr/share/cacti/conf_templates/cacti.sql", "cacti", 80},
	} {
		t.Run(of.pkg, func(t *testing.T) {
			script := routines.ReplaceAllString(dialecttest.Packaged(t, of.path, of.pkg), "")
			pool, _ := open(t, script, "")
			everything := exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}}
			dialecttest.Shipped(t, dbtest.ReadyDB(t, pool, mysql.Dialect{MariaDB: true}, everything), of.least)
		})
	}
}
