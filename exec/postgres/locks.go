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

// advisoryText is a column more of the first query: the advisory locks that the connection has already, as one text.
const advisoryText = `, (SELECT pg_catalog.string_agg(l::pg_catalog.text, ';') FROM pg_catalog.pg_lock_status() AS l
 WHERE l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND l.locktype OPERATOR(pg_catalog.=) 'advisory'::pg_catalog.text)`

// advisoryOf reads advisoryText in the form of state.advisory.
func advisoryOf(text string) (list []string) {
	if text != "" {
		for l := range strings.SplitSeq(text, ";") {
			list = append(list, strings.Trim(l, "()"))
		}
	}
	slices.Sort(list)
	return list
}

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

// rollback ends a use. If something ran in it, it looks first at what that left: no statement that only reads writes or
// takes an advisory lock, and those outlive the transaction.
func (h *held) rollback(ctx context.Context) error {
	if !h.open || !h.used {
		return nil
	}
	ran := h.ran
	h.used, h.ran = false, false
	const back = "ROLLBACK TO SAVEPOINT texttosql_s"
	if !ran {
		_, err := h.script(ctx, back)
		return err
	}
	rows, err := h.script(ctx, locks, back)
	if stateCode(err) == "25P02" { // the statement failed, and the transaction with it
		rows, err = h.script(ctx, back, locks)
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
