package web

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/internal/testutil"
)

// sold are the tables of a server, in the SQL of both.
var sold = []string{
	"CREATE TABLE shops (id INT PRIMARY KEY, town VARCHAR(40) NOT NULL)",
	"CREATE TABLE receipts (id INT PRIMARY KEY, shop_id INT NOT NULL REFERENCES shops (id), sold_at TIMESTAMP NOT NULL, " +
		"amount DECIMAL(10,2) NOT NULL, paid BOOLEAN NOT NULL)",
	"INSERT INTO shops VALUES (1, 'Porto'), (2, 'Łódź')",
	"INSERT INTO receipts VALUES (1, 1, '2024-01-05 10:30:00', 120.50, TRUE), (2, 2, '2024-02-10 09:00:00', 80.00, " +
		"FALSE), " +
		"(3, 1, '2024-03-10 02:30:00', 210.25, TRUE), (4, 2, '2024-05-20 18:15:00', 95.10, TRUE), (5, 1, " +
		"'2024-06-01 00:00:00', 1160.00, FALSE)",
}

const (
	salesByMonth = "What were the sales by month?"
	allReceipts  = "Which receipts are there?"
	twoYears     = "How many visits were there by month?"
)

// TestPageOnServers: the page on PostgreSQL and MariaDB shows months, decimals and truth values as the server has them,
// on a wide window and on a phone. With TEXTTOSQL_PICTURES=FOLDER it writes screenshots.
func TestPageOnServers(t *testing.T) {
	for _, tt := range []struct {
		name, driver, dsn string
		start             func() (*servers.Server, error)
		dialect           exec.Dialect
		months            string
		paid              string // how the server shows a truth value
	}{
		{"postgres", "pgx", "postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", servers.Postgres, postgres.Dialect{},
			"SELECT date_trunc('month', sold_at) AS month, sum(amount) AS sales FROM receipts GROUP BY 1 ORDER BY 1", "true"},
		{"mariadb", "mysql", "root@tcp(127.0.0.1:%d)/sold", servers.MariaDB, mysql.Dialect{MariaDB: true},
			"SELECT date_format(sold_at, '%Y-%m') AS month, sum(amount) AS sales FROM receipts GROUP BY 1 ORDER BY 1", "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := &servers.Lazy{Start: tt.start}
			port := server.Get(t).Port
			t.Cleanup(func() { testutil.OK(t, server.Get(t).Close()) })
			if tt.driver == "mysql" {
				admin := testutil.Value(sql.Open(tt.driver, fmt.Sprintf("root@tcp(127.0.0.1:%d)/", port)))(t)
				testutil.Value(admin.Exec("CREATE DATABASE sold CHARACTER SET utf8mb4"))(t)
				testutil.OK(t, admin.Close())
			}
			db := testutil.Value(sql.Open(tt.driver, fmt.Sprintf(tt.dsn, port)))(t)
			t.Cleanup(func() { db.Close() })
			for _, statement := range sold {
				testutil.Value(db.Exec(statement))(t, statement)
			}
			replies[salesByMonth] = []string{tt.months}
			replies[allReceipts] = []string{"SELECT id, sold_at, amount, paid FROM receipts ORDER BY id"}
			s := &shop{model: &clerk{}, db: db, dialect: tt.dialect, dir: t.TempDir()}
			s.start(t, nil)
			months, all := s.asked(t, "", salesByMonth).ID, s.asked(t, "", allReceipts).ID
			for name, l := range map[string]look{"desk": {1280, false}, "phone": {390, false}} {
				b := s.tab(t, l, "/#c/"+months)
				b.until("document.querySelectorAll('tbody tr').length === 5 && document.querySelector('figure svg text') !== null")
				want := [][]string{{"January 2024", "120.50"}, {"February 2024", "80.00"}, {"March 2024", "210.25"},
					{"May 2024", "95.10"}, {"June 2024", "1,160.00"}}
				cells := "[...document.querySelectorAll('tbody tr')].map((r) => [...r.children].map((c) => c.textContent.trim()))"
				if diff := cmp.Diff(want, eval[[][]string](b, cells)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
				if found := eval[[]string](b, wide); len(found) > 0 {
					t.Errorf("%s: too wide: %q", name, found)
				}
				b.picture(tt.name + "-" + name + "-months")
				b = b.beside(l, s.URL+"/#c/"+all)
				b.until("document.querySelectorAll('tbody tr').length === 5")
				if got := eval[[][]string](b, cells)[2]; got[2] != "210.25" || got[3] != tt.paid {
					t.Errorf("%s: %q", name, got)
				}
				b.picture(tt.name + "-" + name + "-rows")
				b.clean()
			}
			if tt.name == "postgres" {
				s.monthsOfTwoYears(t, db)
			}
			b := s.tab(t, desk, "/#schema")
			b.shows("receipts")
			b.picture(tt.name + "-schema")
			b.clean()
		})
	}
}

// monthsOfTwoYears: readers in three zones see the same 24 months of a table of moments, over four changes of clocks.
func (s *shop) monthsOfTwoYears(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, statement := range []string{
		"CREATE TABLE visits (id INT PRIMARY KEY, seen_at TIMESTAMPTZ NOT NULL)",
		"INSERT INTO visits SELECT n, TIMESTAMPTZ '2023-01-01 00:00:00Z' + n * INTERVAL '1 hour' FROM generate_series(0, " +
			"2 * 8760 + 23) AS n",
	} {
		testutil.Value(db.Exec(statement))(t, statement)
	}
	replies[twoYears] = []string{"SELECT date_trunc('month', seen_at) AS month, count(*) AS visits FROM visits " +
		"GROUP BY 1 ORDER BY 1"}
	id := s.asked(t, "", twoYears).ID
	var want []string
	for month := range 24 {
		want = append(want, time.Date(2023, time.Month(month+1), 1, 0, 0, 0, 0, time.UTC).Format("January 2006"))
	}
	for _, zone := range []string{"America/New_York", "Europe/Berlin", "Asia/Tokyo"} {
		b := s.readIn(t, zone, "/#c/"+id)
		b.until("document.querySelectorAll('tbody tr').length === 24")
		got := eval[[]string](b, "[...document.querySelectorAll('tbody tr')].map((r) => r.firstChild.textContent)")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read in %s (-want +got):\n%s", zone, diff)
		}
	}
}
