package sqlite

import (
	"fmt"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// heavyValues is how many values of the greatest length a statement may have at
// hand at once: with the driver's copy of a row that makes some 50 MB.
const heavyValues = 24

// fit lowers the limit on the length of a value for a statement that could hold
// many at once. Every column, call, argument and || may have a register of its
// own, so that one row of printf('%.*c', 999999, 'x') 490 times over took 480 MB.
// Ordinary statements have few enough to be left alone.
func (h *held) fit(text string, resultColumns int) error {
	most := h.longest()
	commas, joins := sideBySide(text)
	values := max(resultColumns, commas) + joins + len(h.gate.functions)
	length := most
	if values > heavyValues {
		length = most * heavyValues / values
	}
	if length == h.length {
		return nil
	}
	err := h.conn.Raw(func(any) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("sqlite: setting a limit: the driver panicked: %v", r)
			}
		}()
		h.hooks.SetLimit(limitLength, length) // undo has the value from before the guard
		return nil
	})
	h.length = length
	return err
}

// sideBySide counts what makes values side by side in a text: the commas of lists of
// columns and arguments, and the ||. Lists behind IN and VALUES are left out,
// where one value makes room for the next.
func sideBySide(text string) (commas, concatenations int) {
	var inList []bool // by open bracket
	var last string   // the word before, folded
	for t := range sqltext.SQLite().Tokens(text) {
		switch t.Kind {
		case sqltext.Space, sqltext.Comment:
			continue
		case sqltext.Word:
			last = schema.Fold(t.Text)
			continue
		case sqltext.Operator:
			list := len(inList) > 0 && inList[len(inList)-1]
			switch t.Text {
			case "(":
				inList = append(inList, last == "in" || last == "values")
			case ")":
				inList = inList[:max(0, len(inList)-1)]
			case ",":
				if !list {
					commas++
				}
			case "||":
				concatenations++
			}
		}
		last = ""
	}
	return commas, concatenations
}
