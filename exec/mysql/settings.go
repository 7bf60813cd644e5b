package mysql

import (
	"database/sql"
	"strconv"
	"strings"
	"time"
)

// setting is one session variable that a hold changes and puts back.
type setting struct {
	name  string
	value string // "" is the time that a statement may take
	lower bool   // a value of the caller's that is less stays; 0 is none
	trace bool   // only where the policy denies columns
	moves bool   // statements change it, so it is put back even where it was the same
}

// The settings of a hold. Each statement is a transaction of its own, read-only by the session's own variable: unlike
// START TRANSACTION READ ONLY that refuses CREATE and DROP too, frees no table that the caller locked, and shows each
// statement of a session what is committed by then.
var (
	everywhere = []setting{
		{name: "autocommit", value: "1"},
		{name: "sql_auto_is_null", value: "0"},
		{name: "character_set_results", value: "utf8mb4"},
		{name: "sql_select_limit", value: noLimit, moves: true},
		{name: "group_concat_max_len", value: "4194304"}, // JSON_ARRAYAGG too; what is over it is cut, with a warning
		{name: "lock_wait_timeout", value: "1", lower: true},
		{name: "innodb_lock_wait_timeout", value: "1", lower: true},
		{name: "optimizer_trace_max_mem_size", value: "1048576", trace: true},
		{name: "optimizer_trace", value: "enabled=off", trace: true, moves: true}, // on while a statement is prepared
	}
	ofMariaDB = append([]setting{
		{name: "tx_read_only", value: "1"},
		{name: "max_statement_time", lower: true},
		{name: "max_recursive_iterations", value: "1000000"}, // its default of 1,000 ends a recursion without a word
		{name: "max_session_mem_used", value: "134217728", lower: true},
		{name: "tmp_memory_table_size", value: "16777216", lower: true},
		{name: "tmp_disk_table_size", value: "268435456", lower: true},
	}, everywhere...)
	ofMySQL = append([]setting{
		{name: "transaction_read_only", value: "1"},
		{name: "max_execution_time", lower: true},
		{name: "cte_max_recursion_depth", value: "1000000"},
		{name: "tmp_table_size", value: "16777216", lower: true},
	}, everywhere...)
)

const noLimit = "18446744073709551615"

// wanted is the value of a setting in a hold, the session having old. A statement may take nine tenths of its time, so
// that the server ends it before anybody has to drop the connection.
func (s setting) wanted(old sql.NullString, timeout time.Duration) string {
	value := s.value
	switch {
	case s.name == "max_statement_time":
		value = strconv.FormatFloat(max(timeout*9/10, time.Millisecond).Seconds(), 'f', 6, 64)
	case s.name == "max_execution_time":
		value = strconv.FormatInt(max(timeout*9/10, time.Millisecond).Milliseconds(), 10)
	}
	if was, err := strconv.ParseFloat(old.String, 64); s.lower && err == nil && was > 0 {
		if ours, _ := strconv.ParseFloat(value, 64); was <= ours {
			return old.String
		}
	}
	return value
}

// assignment writes one part of SET.
func assignment(name string, value sql.NullString) string {
	text := value.String
	switch _, err := strconv.ParseFloat(text, 64); {
	case !value.Valid:
		text = "NULL"
	case err != nil:
		text = "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return "@@session." + name + " = " + text
}
