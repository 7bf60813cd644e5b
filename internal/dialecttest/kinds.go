package dialecttest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/result"
)

// kindCell is a cell of the table: an expression, and what a result shows of it.
var kindCell = regexp.MustCompile("^`(.*)` → `(.*)`$")

// Kinds holds an engine to the table "Ten kinds of values" of a page: in the column of that engine each cell has an
// expression and what a result shows of it, and "–" where the engine has no such type.
func Kinds(t testing.TB, db *exec.DB, page, engine string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## Ten kinds of values\n")
	column, checked := -1, 0
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, "## ") {
			break
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if column < 0 {
			column = slices.Index(cells, engine)
			continue
		}
		if column >= len(cells) || !kindCell.MatchString(cells[column]) {
			continue
		}
		checked++
		cell := kindCell.FindStringSubmatch(cells[column])
		table, err := db.Query(t.Context(), "SELECT "+cell[1])
		if err != nil {
			t.Errorf("%s: %v", cell[1], err)
		} else if got := (result.Type{}).Format(table.Shown().Rows[0][0]); got != cell[2] {
			t.Errorf("%s is shown as %s, and %s has %s", cell[1], got, page, cell[2])
		}
	}
	if checked < 7 {
		t.Errorf("%s has %d cells for %s", page, checked, engine)
	}
}
