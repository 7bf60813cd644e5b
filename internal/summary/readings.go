package summary

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/result"
)

// maxFigures is how many rows stand for a reading.
const maxFigures = 3

// PreviewRows shows what tells the rows of several readings of one question apart: of each table at most three rows in
// short, those that not all others have too before the others.
//
//	Ann 2,138,816.40, Bo 990.00, …
//	Bo 1,204, Ann 998, …
//
// It is "" for a nil table, and "no rows" for an empty one. Keys are left out where other columns say more. Values are
// data of the database: show them as text. Safe for concurrent use.
func PreviewRows(tables []*result.Table) []string {
	lines := make([][]string, len(tables))
	for i, t := range tables {
		if t != nil {
			lines[i] = rowsInShort(t.Shown())
		}
	}

	told := make([]string, len(tables))
	for i, t := range tables {
		switch {
		case t == nil:
		case len(lines[i]) == 0:
			told[i] = "no rows"
		default:
			told[i] = distinguishing(lines[i], slices.Concat(lines[:i:i], lines[i+1:]))
		}
	}
	return told
}

// distinguishing are the lines that not all others have, filled up with the first ones, in their order.
func distinguishing(lines []string, others [][]string) string {
	chosen := map[int]bool{}
	for _, common := range []bool{false, true} {
		for i, line := range lines {
			everywhere := !slices.ContainsFunc(others, func(other []string) bool { return !slices.Contains(other, line) })
			if len(chosen) < maxFigures && everywhere == common {
				chosen[i] = true
			}
		}
	}

	shown := omit(lines, func(i int) bool { return !chosen[i] })
	if len(lines) > len(shown) {
		shown = append(shown, "…")
	}
	return strings.Join(shown, ", ")
}

// maxShort is how many rows are looked at, maxCells how many values of one.
const (
	maxShort = 100
	maxCells = 3
)

// rowsInShort are the rows of a table, each in a few words.
func rowsInShort(t *result.Table) (lines []string) {
	var columns, keys []int
	texts := make([]result.Texts, len(t.Columns))
	for i, name := range t.Columns {
		if texts[i] = t.Texts(i); keyed.MatchString(name) {
			keys = append(keys, i)
		} else {
			columns = append(columns, i)
		}
	}
	if len(columns) == 0 {
		columns = keys
	}

	for _, row := range t.Rows[:min(maxShort, len(t.Rows))] {
		var cells []string
		for _, i := range columns[:min(maxCells, len(columns))] {
			text := label(row[i])
			if _, isNumber := number(row[i]); isNumber {
				text = texts[i].Text(row[i])
			}
			cells = append(cells, text)
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return lines
}
