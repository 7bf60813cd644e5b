package exectest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/result"
)

// Payload is a statement and its expected outcome.
type Payload struct {
	Name string
	SQL  string
	Why  string // a reason for what is expected
	// Expect is "refuse", "accept" or "survive". "refuse": no part of it runs, or it does not compile. "accept": it
	// returns Rows rows and at least one column. "survive": it may be refused, fail or answer, but within 1.15 times the
	// deadline and with less than 64 MiB of memory.
	Expect string
	Rows   int // rows of an accepted statement
	Policy exec.Policy
}

// portable are statements that every engine of SQL knows, on Fixture.
func portable(write func(string) string) []Payload {
	all := slices.Concat(faulty(), hostile("any"), harmless())
	for i := range all {
		all[i].SQL = write(all[i].SQL)
	}
	return all
}

func payloads(expect string, rows int, statements ...string) (all []Payload) {
	for _, s := range statements {
		all = append(all, Payload{Name: "portable", SQL: s, Expect: expect, Rows: rows})
	}
	return all
}

// faulty are refused, and few of them would do harm.
func faulty() []Payload {
	return payloads("refuse", 0,
		"", " ; ", "I cannot answer that.", "SELECT 1; SELECT 2", "COMMIT", "ROLLBACK", "EXPLAIN SELECT a FROM t",
		"SELECT a FROM t WHERE a = "+"\x00 1", "SELECT \xff FROM t",
		"WITH x AS (DELETE FROM t) SELECT 1", "SELECT nosuch FROM t", "SELECT a FROM nosuch",
		"SELECT nosuch(a) FROM t", "SELECT FROM WHERE",
		"GRANT SELECT ON t TO x", "CALL p()", "SET x = 1", "SELECT "+strings.Repeat("(", 5000)+"1"+strings.Repeat(")", 5000))
}

func harmless() []Payload {
	five := payloads("accept", 5, "SELECT a, b FROM t", "SELECT a FROM t ORDER BY a DESC;", "SELECT a FROM t -- all\n",
		"SELECT DISTINCT a FROM t", "SELECT a + 1 FROM t WHERE b <> ';' OR b IS NULL",
		"WITH c AS (SELECT a FROM t) SELECT a FROM c", "SELECT x.a FROM (SELECT a FROM t) AS x",
		"SELECT a, count(*) FROM t GROUP BY a HAVING count(*) > 0", "SELECT row_number() OVER (ORDER BY a) FROM t",
		"SELECT a, (SELECT count(*) FROM users) FROM t", "SELECT CASE WHEN a > 2 THEN 'x' ELSE 'y' END FROM t",
		"SELECT t.a, u.name FROM t LEFT JOIN users AS u ON u.id = t.a")
	one := payloads("accept", 1, "SELECT 1", "SELECT count(*) FROM t", "SELECT a FROM t WHERE b = 'it''s'",
		"SELECT a FROM t WHERE b = 'beta;gamma'", "SELECT a FROM t WHERE b = '北京'",
		"SELECT sum(a), min(a), max(a), avg(a) FROM t",
		"SELECT upper(b), lower(b), length(b) FROM t WHERE a = 1")
	three := payloads("accept", 3, "SELECT name FROM users UNION SELECT name FROM users",
		"SELECT a FROM t WHERE a IN (SELECT id FROM users)",
		"SELECT a FROM t WHERE EXISTS (SELECT 1 FROM users WHERE id = a)",
		"SELECT a FROM t ORDER BY a LIMIT 3", "SELECT a FROM t WHERE a BETWEEN 1 AND 3")
	return slices.Concat(five, one, three)
}

// checkPayloads runs statements on one database, and looks at what is left after every eighth and after one that was
// not as expected: looking takes a server longer than most statements.
func checkPayloads(t testing.TB, e Engine, all []Payload) error {
	d := e.open(t, e.fixture())
	ctx := context.Background()
	same, err := d.watch(ctx)
	if err != nil {
		return err
	}
	var errs []error
	counts := map[string]int{}
	dbs := map[string]*exec.DB{}
	for i, p := range all {
		if err := d.payload(ctx, p, dbs); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w: %.200s (%s)", p.Name, err, p.SQL, p.Why))
		} else if counts[p.Expect]++; (len(all)-i)%8 != 1 {
			continue
		}
		if err := same(); err != nil {
			errs = append(errs, fmt.Errorf("after %s, %.200s, or one of seven before: %w", p.Name, p.SQL, err))
			if same, err = d.watch(ctx); err != nil {
				return errors.Join(append(errs, err)...)
			}
		}
	}
	t.Logf("%d statements: as expected %d refused, %d answered, %d survived", len(all), counts["refuse"], counts["accept"],
		counts["survive"])
	return errors.Join(errs...)
}

// payload runs a statement on the DB that dbs has for its policy and time.
func (d *database) payload(ctx context.Context, p Payload, dbs map[string]*exec.DB) (err error) {
	deadline := time.Minute // what is not about time must not fail by it
	if p.Expect == "survive" {
		deadline = d.deadline()
	}
	key := fmt.Sprintf("%q %v", p.Policy, deadline)
	db := dbs[key]
	if db == nil {
		if db, err = d.db(exec.Config{Policy: p.Policy,
			Limits: exec.Limits{Answer: exec.Bounds{Timeout: deadline}}}); err != nil {
			return err
		}
		dbs[key] = db
	}
	grown := dbtest.MemoryGrowth()
	took := d.stopwatch()
	var table *result.Table
	err = catch(func() (err error) { table, err = db.Query(ctx, p.SQL); return err })
	spent := took()
	switch p.Expect {
	case "refuse":
		if err == nil {
			return fmt.Errorf("answered with %d rows", len(table.Rows))
		}
		if !dbtest.RanNothing(err) {
			return fmt.Errorf("not refused before it ran: %w", err)
		}
		wide := dbs[""]
		if wide == nil {
			if wide, err = d.db(exec.Config{}); err != nil {
				return err
			}
			dbs[""] = wide
		}
		if asked, err := underPolicy(ctx, wide, p.Policy, p.SQL); asked && !dbtest.RanNothing(err) {
			return fmt.Errorf("not refused where the policy is that of a question: %w", orNone(err))
		}
	case "accept":
		if err != nil {
			return err
		}
		if len(table.Rows) != p.Rows || len(table.Columns) == 0 {
			return fmt.Errorf("%d rows of %d columns, want %d rows", len(table.Rows), len(table.Columns), p.Rows)
		}
	case "survive":
		more := grown()
		for again := 0; spent > deadline*115/100 && again < 2; again++ {
			took = d.stopwatch()
			_, _ = db.Query(ctx, p.SQL)
			spent = took()
		}
		if spent > deadline*115/100 {
			return fmt.Errorf("took %v, three times", spent)
		}
		if more > 64<<20 {
			return fmt.Errorf("took %d MiB", more>>20)
		}
	default:
		return fmt.Errorf("unknown expectation %q", p.Expect)
	}
	return nil
}

// stopwatch starts and returns what tells the time since: that of the clock, or what the process had of the CPU where
// the engine is in it and that is less, since a busy machine lets a test wait.
func (e Engine) stopwatch() func() time.Duration {
	clock, cpu := time.Now(), cpuTime()
	return func() time.Duration {
		if now := cpuTime(); e.InProcess && now > cpu {
			return min(time.Since(clock), now-cpu)
		}
		return time.Since(clock)
	}
}

// cpuTime is what the process has had of the CPU, 0 where the system does not say.
func cpuTime() time.Duration {
	stat, _ := os.ReadFile("/proc/self/stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 for every program
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick
}
