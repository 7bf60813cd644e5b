package postgres

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
)

// lock is one lock on a relation.
type lock struct {
	relation uint32 // its OID
	mode     string // "AccessShareLock" is that of reading
}

const (
	// lockText lists the locks of the connection, each row as one text: that is read fastest. It touches no relation,
	// works under any search path and for any role. It is prepared at the beginning of the transaction.
	lockText = `SELECT l FROM pg_catalog.pg_lock_status() AS l WHERE l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()`

	locksName = "texttosql_locks"
	locks     = "EXECUTE " + locksName
	savepoint = "texttosql_s"
	back      = "ROLLBACK TO SAVEPOINT " + savepoint
	cursor    = "texttosql_c"
)

// state is what lockText tells.
type state struct {
	relations []lock
	advisory  []string // sorted
	written   bool     // the transaction has a number, as it has once it wrote
}

// stateOf reads rows of pg_lock_status: (relation,DATABASE,OID,,,,,,,,TRANSACTION,PID,MODE,…).
func stateOf(rows []row) (s state, err error) {
	for _, row := range rows {
		l := strings.Split(strings.Trim(row[0], "()"), ",")
		if len(l) < 13 {
			return s, errNoLocks
		}
		switch l[0] {
		case "relation":
			oid, err := strconv.ParseUint(l[2], 10, 32)
			if err != nil {
				return s, err
			}
			s.relations = append(s.relations, lock{uint32(oid), l[12]})
		case "advisory":
			l[10] = "" // the number of the transaction
			s.advisory = append(s.advisory, strings.Join(l, ","))
		case "transactionid":
			s.written = true
		}
	}
	if len(rows) == 0 { // each transaction holds a lock on itself
		return s, errNoLocks
	}
	slices.Sort(s.advisory)
	return s, nil
}

var errNoLocks = errors.New("postgres: the server does not list its locks as PostgreSQL does")

// seen is what the locks that the server took for a statement say of what it reads.
func (c *catalog) seen(locks []lock) (guard.EngineReport, error) {
	s := guard.EngineReport{Told: true}
	for _, l := range locks {
		r := c.byOID[l.relation]
		switch {
		case r == nil:
			return s, guard.Refuse("table", "it reads what is no table that may be read")
		case l.mode != "AccessShareLock":
			return s, guard.Refuse("not-read-only", "it does more than read %s", r.Name)
		}
		s.Relations = append(s.Relations, r)
	}
	return s, nil
}

// unpoliced returns the locks without those on relations that only a policy of row security reads. The server reads
// them to find the rows of a table, so the statement does not name them, and who asks need not be allowed to read them.
// A relation among reads, which the statement names, keeps its lock.
func (c *catalog) unpoliced(locks []lock, reads []guard.Read) []lock {
	found := guard.ReadSet{}
	var add func(reads []guard.Read)
	add = func(reads []guard.Read) {
		for _, u := range reads {
			if found.Add(u.Relation) {
				add(u.Relation.Own.(*relation).policed)
				if u.Relation.View {
					add(u.Relation.Under)
				}
			}
		}
	}
	add(reads)
	for _, u := range reads {
		delete(found, u.Relation)
	}
	return slices.DeleteFunc(locks, func(l lock) bool {
		return l.mode == "AccessShareLock" && found[c.byOID[l.relation]] != nil
	})
}

// unmoved reports an error if the connection wrote, or has other advisory locks than when it was opened.
func (c *conn) unmoved() error {
	if !c.before.written && slices.Equal(c.began, c.before.advisory) {
		return nil
	}
	c.lost = true
	return guardFault("the server wrote or took a lock while it looked at the names in the statement; " +
		"its connection is closed")
}

func guardFault(detail string) error {
	return &exec.RefusedError{Reason: "guard", Writes: true, Detail: detail}
}

// rollback ends a use, and the transaction too if all. If something ran in it, it looks first at what that left: no
// statement that only reads writes or takes an advisory lock, and those outlive the transaction. After an error the
// connection is not used again.
func (c *conn) rollback(ctx context.Context, all bool) (err error) {
	if !c.begun || !c.used && !all {
		return nil
	}
	defer func() { c.lost = c.lost || err != nil }()
	end := []string{back}
	if all {
		end = []string{"ROLLBACK", "DEALLOCATE " + locksName}
		c.begun = false
	}
	ran := c.ran
	c.used, c.ran, c.declared = false, false, false
	if !ran {
		_, err := c.script(ctx, end...)
		return err
	}
	texts, at := append([]string{locks}, end...), 0
	if c.pgx.aborted() { // the statement failed, and the transaction with it
		texts, at = append([]string{back}, texts...), 1
	}
	results, err := c.script(ctx, texts...)
	if err != nil {
		return err
	}
	after, err := stateOf(results[at])
	if err != nil {
		return err
	}
	if after.written || !slices.Equal(c.before.advisory, after.advisory) {
		return guardFault("the statement passed the guard and wrote or took a lock; it was rolled back and its connection " +
			"is closed")
	}
	return nil
}
