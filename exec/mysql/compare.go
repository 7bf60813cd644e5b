package mysql

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sqlc-dev/marino/ast"
	"github.com/sqlc-dev/marino/opcode"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// kind is what values are compared as, and how a parameter is bound there.
type kind struct {
	bind    guard.Bind // nil: asNumber
	numbers bool       // literals of it are numbers, else strings
	family  guard.Family
}

var (
	ofNumber = &kind{nil, true, guard.NumberFamily}
	ofBits   = &kind{nil, true, guard.NoFamily}
	ofYear   = &kind{asYear, true, guard.NoFamily}
	ofText   = &kind{asText, false, guard.TextFamily}
	ofBytes  = &kind{asText, false, guard.NoFamily}
	ofDate   = &kind{asTime("2006-01-02", "2006-01-02 15:04:05"), false, guard.TimeFamily}
	ofTime   = &kind{asTime("15:04:05"), false, guard.NoFamily}
	// kinds are those of columns, by the first word of the type. A parameter is compared with no other type.
	kinds = map[string]*kind{}
)

func init() {
	for of, words := range map[*kind]string{
		ofNumber: "tinyint smallint mediumint int bigint decimal float double", ofBits: "bit", ofYear: "year",
		ofText:  "char varchar tinytext text mediumtext longtext enum set",
		ofBytes: "binary varbinary tinyblob blob mediumblob longblob uuid inet4 inet6",
		ofDate:  "date datetime timestamp", ofTime: "time",
	} {
		for word := range guard.Set(words) {
			kinds[word] = of
		}
	}
}

// kindOf returns the kind of a type of columns, nil for none.
func kindOf(columnType string) *kind {
	word, _, _ := strings.Cut(columnType, "(")
	word, _, _ = strings.Cut(word, " ")
	return kinds[word]
}

// Compared implements [exec.LooseConn], by the tree of the rule: a parameter stands beside columns of one kind, and literals
// of it, in a comparison, IN, BETWEEN, LIKE or FIND_IN_SET. The server takes a text that is no number for 0, so a number
// beside anything else could equal every text, and a text every 0.
func (h *held) Compared(t *schema.Table, rule string, params []string) (binds []guard.Bind, err error) {
	c := comparisons{table: t, binds: map[*ast.ParamMarkerExprBase]guard.Bind{}}
	err = guard.Walked(func() {
		tree, _ := parse(h.server.dialect.Language().Text.Parse("SELECT 1 FROM t WHERE ("+rule+")"), h.at.mode)
		tree.Accept(&c)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(c.params, func(a, b *ast.ParamMarkerExprBase) int { return a.Offset - b.Offset })
	for i, name := range params {
		if len(c.params) != len(params) || c.binds[c.params[i]] == nil {
			return nil, guard.Refuse(exec.ReasonRows, "the parameter :%s is not compared with a column of a kind that is known: "+
				"write column = :%[1]s, or another comparison, IN, BETWEEN or LIKE, with nothing around the column and the parameter", name)
		}
		binds = append(binds, c.binds[c.params[i]])
	}
	return binds, nil
}

// comparisons finds what the parameters of a rule are compared with.
type comparisons struct {
	table  *schema.Table
	params []*ast.ParamMarkerExprBase
	binds  map[*ast.ParamMarkerExprBase]guard.Bind
	around []ast.Node // the node that is visited
}

// Leave implements ast.Visitor.
func (c *comparisons) Leave(n ast.Node) (ast.Node, bool) {
	c.around = c.around[:len(c.around)-1]
	return n, true
}

// Enter implements ast.Visitor.
func (c *comparisons) Enter(n ast.Node) (ast.Node, bool) {
	apart := len(c.around) > 0 && isApart(c.around[len(c.around)-1])
	c.around = append(c.around, n)
	if p, ok := n.(*ast.ParamMarkerExprBase); ok {
		c.params = append(c.params, p)
	} else if apart {
		c.compared(n)
	}
	return n, false
}

// isApart reports whether what stands in a node ends there by any grammar, as behind AND, OR, a comma and a bracket. Whether
// a = b IS NULL is a = (b IS NULL) is up to the server.
func isApart(around ast.Node) bool {
	switch n := around.(type) {
	case *ast.ParenthesesExpr, *ast.FuncCallExpr, *ast.WhenClause:
		return true
	case *ast.UnaryOperationExpr:
		return n.Op == opcode.Not
	case *ast.BinaryOperationExpr:
		return n.Op == opcode.LogicAnd || n.Op == opcode.LogicOr || n.Op == opcode.LogicXor
	}
	return false
}

func (c *comparisons) compared(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryOperationExpr:
		switch n.Op {
		case opcode.EQ, opcode.NE, opcode.LT, opcode.LE, opcode.GT, opcode.GE, opcode.NullEQ:
			c.beside(n.L, n.R)
		}
	case *ast.BetweenExpr:
		c.beside(n.Expr, n.Left, n.Right)
	case *ast.PatternInExpr:
		c.beside(append([]ast.ExprNode{n.Expr}, n.List...)...)
	case *ast.PatternLikeOrIlikeExpr:
		c.texts(n.Expr, n.Pattern)
	case *ast.FuncCallExpr:
		if n.FnName.L == "find_in_set" {
			c.texts(n.Args...)
		}
	}
}

// beside notes the kind of the parameters among what is compared, if all else is of one.
func (c *comparisons) beside(all ...ast.ExprNode) {
	var of *kind
	var literals []bool // whether each is a number
	scale := anyScale
	for _, e := range all {
		switch e := bare(e).(type) {
		case *ast.ParamMarkerExprBase:
		case *ast.ColumnNameExpr:
			k, digits := c.column(e)
			if k == nil || of != nil && of != k {
				return
			}
			of, scale = k, min(scale, digits)
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
		if of = ofText; literals[0] {
			of = ofNumber
		}
	}
	if of == nil || slices.Contains(literals, !of.numbers) {
		return
	}
	bind := of.bind
	if bind == nil {
		bind = asNumber(scale)
	}
	c.note(bind, all)
}

// texts notes parameters that are read as texts, whatever is beside them, as long as that is a column.
func (c *comparisons) texts(all ...ast.ExprNode) {
	if slices.ContainsFunc(all, func(e ast.ExprNode) bool {
		column, ok := bare(e).(*ast.ColumnNameExpr)
		if !ok {
			return false
		}
		k, _ := c.column(column)
		return slices.Contains([]*kind{ofText, ofBytes, ofNumber}, k)
	}) {
		c.note(asText, all)
	}
}

func (c *comparisons) note(bind guard.Bind, all []ast.ExprNode) {
	for _, e := range all {
		if p, ok := bare(e).(*ast.ParamMarkerExprBase); ok {
			c.binds[p] = bind
		}
	}
}

// column returns the kind of a column, nil for none, and how many digits a number has there behind its point.
func (c *comparisons) column(e *ast.ColumnNameExpr) (*kind, int) {
	if c.table == nil {
		return nil, 0
	}
	column, ok := c.table.Column(e.Name.Name.O)
	if !ok {
		return nil, 0
	}
	scale := 0
	switch _, digits, _ := strings.Cut(column.Type, ","); {
	case strings.HasPrefix(column.Type, "decimal"):
		scale, _ = strconv.Atoi(strings.TrimRight(digits, ") abcdefghijklmnopqrstuvwxyz"))
	case column.Type == "double":
		scale = anyScale
	}
	return kindOf(column.Type), scale
}

// bare returns what stands in brackets.
func bare(e ast.ExprNode) ast.ExprNode {
	for {
		brackets, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			return e
		}
		e = brackets.Expr
	}
}

const anyScale = 1 << 10

// asNumber makes an integer of what is one, so that the server compares it exactly. A number with more digits behind the
// point than the column has is refused: where the server looks it up in an index, it is rounded.
func asNumber(scale int) guard.Bind {
	return func(value any) (any, error) {
		digits := ""
		switch v := value.(type) {
		case bool, int64:
			return v, nil
		case float64:
			digits = strconv.FormatFloat(v, 'f', -1, 64)
		case string:
			digits = v
		case []byte:
			digits = string(v)
		}
		whole, fraction, point := strings.Cut(digits, ".")
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || point && fraction == "" || strings.Trim(fraction, "0123456789") != "" {
			return nil, errors.New("is no number, or too long a one")
		}
		if fraction = strings.TrimRight(fraction, "0"); fraction == "" {
			return n, nil
		}
		if len(fraction) > scale || len(whole)+len(fraction) > 15 {
			return nil, fmt.Errorf("is no number of at most %d digits behind the point and 15 in all", min(scale, 15))
		}
		return strconv.ParseFloat(digits, 64)
	}
}

// asYear is asNumber for a year, of which the server takes 70 for 1970.
func asYear(value any) (any, error) {
	n, err := asNumber(0)(value)
	if y, ok := n.(int64); err != nil || !ok || y < 1000 {
		return nil, errors.New("is no year of four digits")
	}
	return n, nil
}

// asText writes a number as a text, for columns of texts.
func asText(value any) (any, error) {
	switch v := value.(type) {
	case bool:
		return nil, errors.New("is no text")
	case int64, float64:
		return fmt.Sprint(v), nil
	}
	return value, nil
}

// asTime takes a date or a time that is one. Of any other text the server makes a zero.
func asTime(layouts ...string) guard.Bind {
	return func(value any) (any, error) {
		written := fmt.Sprintf("%s", value)
		for _, layout := range layouts {
			if _, err := time.Parse(layout, written); err == nil && !strings.Contains(written, ",") {
				return written, nil
			}
		}
		return nil, fmt.Errorf("is not written as %s", strings.Join(layouts, " or "))
	}
}
