package postgres

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
)

// lock is one lock on a relation.
type lock struct {
	relation uint32 // its OID
	mode     string // "AccessShareLock" is that of reading
}

// lockText lists the locks of the connection, each row as one text: that is read fastest. It touches no relation, works
// under any search path and for any role.
const lockText = `SELECT l FROM pg_catalog.pg_lock_status() AS l WHERE l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()`

// locks runs lockText, which is prepared at the beginning of the transaction.
const locks = "EXECUTE texttosql_locks"

// state is what lockText tells.
type state struct {
	relations []lock
	advisory  []string // sorted
	written   bool     // the transaction has a number, as it has once it wrote
}

// stateOf reads rows of pg_lock_status: (relation,DATABASE,OID,,,,,,,,TRANSACTION,PID,MODE,…).
func stateOf(rows [][]string) (s state, err error) {
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

// rollback ends a use, and the transaction too if all. If something ran in it, it looks first at what that left: no
// statement that only reads writes or takes an advisory lock, and those outlive the transaction.
func (h *held) rollback(ctx context.Context, all bool) (err error) {
	if !h.open || !h.used && !all {
		return nil
	}
	const back = "ROLLBACK TO SAVEPOINT texttosql_s"
	end := []string{back}
	if all {
		end = []string{"ROLLBACK", "DEALLOCATE texttosql_locks"}
		defer func() { h.open, h.lost = false, h.lost || err != nil }()
	}
	ran := h.ran
	h.used, h.ran = false, false
	if !ran {
		_, err := h.script(ctx, end...)
		return err
	}
	rows, err := h.script(ctx, append([]string{locks}, end...)...)
	if stateCode(err) == "25P02" { // the statement failed, and the transaction with it
		rows, err = h.script(ctx, append([]string{back, locks}, end...)...)
	}
	if err != nil {
		return err
	}
	after, err := stateOf(rows)
	if err != nil {
		return err
	}
	if after.written || !slices.Equal(h.before.advisory, after.advisory) {
		return &exec.RefusedError{Reason: exec.ReasonGuard, Writes: true,
			Detail: "the statement passed the guard and wrote or took a lock; it was rolled back and its connection is closed"}
	}
	return nil
}

// stateCode is the SQLSTATE of an error, "" without one.
func stateCode(err error) string {
	var known interface{ SQLState() string }
	if errors.As(err, &known) {
		return known.SQLState()
	}
	return ""
}
