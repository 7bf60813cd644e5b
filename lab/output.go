package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table writes rows under heads, in columns.
func table(w io.Writer, heads []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(heads, "\t"))
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

// jsonLines writes one object on each line.
func jsonLines[T any](w io.Writer, list []T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, x := range list {
		if err := e.Encode(x); err != nil {
			return err
		}
	}
	return nil
}

// share writes a share with three places, as is usual in the field: .871.
func share(x float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", x), "0") }

// points writes a difference of shares in points.
func points(x float64) string { return fmt.Sprintf("%+.1f", 100*x) }
