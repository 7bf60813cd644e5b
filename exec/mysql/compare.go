package mysql

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/opcode"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// kind is the kind as which values are compared.
type kind struct {
	numbers bool // literals of it are numbers, else strings
	bind    func(value any, scale int) (any, error)
	family  string
}

// kinds holds the kinds of columns by the first word of their type. A parameter can be compared with no other type.
var kinds = map[string]*kind{}

func init() {
	for words, of := range map[string]kind{
		"tinyint smallint mediumint int bigint decimal float double": {true, asNumber, "number"},
		"bit": {true, asNumber, ""},
		"char varchar tinytext text mediumtext longtext enum set":             {false, asText, "text"},
		"binary varbinary tinyblob blob mediumblob longblob uuid inet4 inet6": {false, asText, ""},
		"date datetime timestamp": {false, asDate, "time"},
	} {
		for word := range guard.Set(words) {
			kinds[word] = &of
		}
	}
}

// kindOf returns the kind of a type of columns, nil for none.
func kindOf(columnType string) *kind {
	return kinds[strings.FieldsFunc(columnType+" ", func(r rune) bool { return r == '(' || r == ' ' })[0]]
}

// compared implements exec.GuardedConn.Compared with the tree of the rule. A parameter must be in a comparison, IN,
// BETWEEN or LIKE with columns of one kind and literals of that kind. AND, OR, NOT and parentheses may join such
// conditions. The server reads a text that is not a number as 0. So a number that is compared with anything else could
// equal every such text, and such a text every 0.
func (h *held) compared(r *guard.Relation, rule string, params []string) (binds []func(value any) (any, error),
	err error) {
	c := comparisons{table: r.Own.(*schema.Table), binds: map[int]func(value any) (any, error){}}
	err = guard.RecoverWalk(func() {
		tree, _ := parse(h.server.dialect.Language().Text.Parse("SELECT 1 FROM t WHERE ("+rule+")"), h.at.mode)
		c.condition(tree.(*ast.SelectStmt).Where)
	})
	if err == nil && len(c.binds) < len(params) {
		err = guard.Refuse("rows", "a parameter of :%s is not compared with a column of a kind that is known: "+
			"write column = :%s, "+
			"or another comparison, IN, BETWEEN or LIKE, with nothing around the column and the parameter",
			strings.Join(params, ", :"), params[0])
	}
	for _, at := range slices.Sorted(maps.Keys(c.binds)) {
		binds = append(binds, c.binds[at])
	}
	return binds, err
}

// comparisons finds what the parameters of a rule are compared with.
type comparisons struct {
	table *schema.Table
	binds map[int]func(value any) (any, error) // by the places of the parameters
}

// condition reads a condition. Unknown syntax may bind more tightly than the comparisons in it.
func (c *comparisons) condition(e ast.ExprNode) {
	switch n := bare(e).(type) {
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.LogicAnd, opcode.LogicOr, opcode.LogicXor:
			c.condition(n.L)
			c.condition(n.R)
		case opcode.EQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT, opcode.GE, opcode.NullEQ:
			c.beside(n.L, n.R)
		}
	case *ast.UnaryOperationExpr:
		if n.Op == opcode.Not {
			c.condition(n.V)
		}
	case *ast.BetweenExpr:
		c.beside(n.Expr, n.Left, n.Right)
	case *ast.PatternInExpr:
		c.beside(append(n.List, n.Expr)...)
	case *ast.PatternLikeOrIlikeExpr:
		c.beside(n.Expr, n.Pattern)
	case *ast.FuncCallExpr:
		if n.FnName.L == "find_in_set" { // which reads all as texts
			c.note(asText, 0, n.Args)
		}
	}
}

// beside records the parameters among the compared expressions, if all others have one kind.
func (c *comparisons) beside(all ...ast.ExprNode) {
	var of *kind
	scale := 1 << 10
	var literals []bool // whether each is a number
	for _, e := range all {
		switch e := bare(e).(type) {
		case *ast.ParamMarkerExprBase:
		case *ast.ColumnNameExpr:
			column, ok := c.table.Column(e.Name.Name.O)
			if !ok || kindOf(column.Type) == nil || of != nil && of != kindOf(column.Type) {
				return
			}
			precision, digits := 0, 0
			_, _ = fmt.Sscanf(column.Type, "decimal(%d,%d)", &precision, &digits) // of another type there are none
			of, scale = kindOf(column.Type), min(scale, digits)
		case *ast.ValueExprBase:
			switch e.Kind() {
			case ast.KindNull:
			case ast.KindString:
				literals = append(literals, false)
			case ast.KindInt64, ast.KindUint64, ast.KindFloat64, ast.KindMysqlDecimal:
				literals = append(literals, true)
			default:
				return
			}
		default:
			return
		}
	}
	if of == nil && len(literals) > 0 {
		if of = kinds["text"]; literals[0] {
			of = kinds["int"]
		}
	}
	if of != nil && !slices.Contains(literals, !of.numbers) {
		c.note(of.bind, scale, all)
	}
}

func (c *comparisons) note(bind func(value any, scale int) (any, error), scale int, all []ast.ExprNode) {
	for _, e := range all {
		if p, ok := bare(e).(*ast.ParamMarkerExprBase); ok {
			c.binds[p.Offset] = func(value any) (any, error) { return bind(value, scale) }
		}
	}
}

// bare returns the expression inside parentheses.
func bare(e ast.ExprNode) ast.ExprNode {
	if brackets, ok := e.(*ast.ParenthesesExpr); ok {
		return bare(brackets.Expr)
	}
	return e
}

// written is a value as a literal has it.
func written(value any) string {
	switch v := value.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []byte:
		return string(v)
	}
	return fmt.Sprint(value)
}

// asNumber converts a value to an integer if it is one, so that the server compares it exactly. It rejects a number
// with more digits after the point than the column has, because the server rounds it for a lookup in an index.
func asNumber(value any, scale int) (any, error) {
	if _, ok := value.(bool); ok {
		return value, nil
	}
	digits := written(value)
	whole, fraction, _ := strings.Cut(digits, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if fraction = strings.TrimRight(fraction, "0"); err == nil && fraction == "" {
		return n, nil
	}
	f, wrong := strconv.ParseFloat(digits, 64)
	if err != nil || wrong != nil || strings.Trim(fraction, "0123456789") != "" || len(fraction) > scale ||
		len(whole+fraction) > 15 {
		return nil, errors.New("is no number of as many digits")
	}
	return f, nil
}

// asText writes a number as a text, for columns of texts.
func asText(value any, _ int) (any, error) {
	switch value.(type) {
	case bool:
		return nil, errors.New("is no text")
	case []byte:
		return value, nil
	}
	return written(value), nil
}

// asDate takes a text that is a date, with a time or without. Of any other the server makes a zero.
func asDate(value any, _ int) (any, error) {
	text := written(value)
	for _, layout := range []string{time.DateOnly, time.DateTime} {
		if _, err := time.Parse(layout, text); err == nil && !strings.Contains(text, ",") {
			return text, nil
		}
	}
	return nil, errors.New("is not written as 2006-01-02 or 2006-01-02 15:04:05")
}
