package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	driverpkg "github.com/go-sql-driver/mysql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
)

// Classify gives a driver error its type. It returns an unknown error unchanged.
func (Dialect) Classify(err error) error {
	e, ok := errors.AsType[*driverpkg.MySQLError](err)
	if !ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, driver.ErrBadConn) {
		return err
	}
	state := string(e.SQLState[:])
	is := func(numbers ...uint16) bool { return slices.Contains(numbers, e.Number) }
	invalid := func(fault string) error { return &exec.InvalidError{Fault: fault, Message: e.Message} }
	refused := func(reason string) error { return guard.Refuse(reason, "%s", e.Message) }
	switch {
	case is(1969, 3024, 1317): // its own time, or somebody's KILL QUERY
		return &exec.LimitError{Limit: "time"}
	case is(1114, 1021, 1037, 1038, 1041), is(1290) && strings.Contains(e.Message, "mem"): // a temporary table is full
		return &exec.LimitError{Limit: "memory"}
	case is(1153, 1301): // longer than max_allowed_packet
		return &exec.LimitError{Limit: "cell"}
	case is(1205, 1213, 1040, 1203, 1226, 1412, 1615, 3572):
		return fmt.Errorf("%w: %s", exec.ErrBusy, e.Message)
	case is(1792, 1290, 1836):
		return refused("not-read-only")
	case is(1142, 1044):
		return refused("table")
	case is(1143):
		return refused("column")
	case is(1370, 1227, 1419):
		return refused("function")
	case is(1116, 1117, 1119, 1436, 1473, 1390):
		return refused("too-complex")
	case strings.HasPrefix(state, "08"), e.Number < 1050 && !is(1048), is(1053, 1077, 1078, 1079, 1080, 1129, 1130, 1158,
		1159),
		is(1160, 1161, 1194, 1195, 1696, 1877, 1927, 1932):
		return err // the server is ill or goes away
	case is(1064, 1065, 1149):
		return invalid("syntax")
	case is(1054, 1146, 1305, 1052, 1051, 1049, 1109, 1066, 1128, 1630, 1356):
		return &exec.InvalidError{Fault: "schema", Message: e.Message, Name: nameIn(e)}
	case strings.HasPrefix(state, "42") && !is(1139), is(1111, 1140, 1222, 1241, 1248, 1582, 4078, 4015, 4016, 4017, 4018,
		4019):
		return invalid("compile")
	}
	return &exec.InvalidError{Fault: "run", Message: guard.Masked(e.Message, "'\"`", "'\"`")}
}

// quotedName finds what a message names: "Unknown column 'u.nmae' in 'field list'", "Table 'shop.orders' doesn't
// exist", "FUNCTION shop.f does not exist".
var quotedName = regexp.MustCompile(`'((?:[^']|'')*)'|^FUNCTION (\S+)`)

// nameIn is the table, column or function that a message names. Tables and functions are named without their database.
func nameIn(e *driverpkg.MySQLError) string {
	m := quotedName.FindStringSubmatch(e.Message)
	if m == nil {
		return ""
	}
	name := m[1] + m[2]
	if _, after, ok := strings.Cut(name, "."); ok && e.Number != 1054 && e.Number != 1052 {
		name = after
	}
	return name
}
