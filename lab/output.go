package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/texttosql/texttosql/trace"
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

// canWritePage says whether a page can be written, before the hours of work for it. "" means no page.
func canWritePage(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("page %s: is a folder", path)
	}
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// createBeside makes a temporary file beside the page.
func createBeside(path string) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".lab-*.html")
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", path, err)
	}
	return f, nil
}

// writePage writes a page to a file, whole or not at all.
func writePage(path string, p trace.Page) error {
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing after it was renamed
	if err := p.WriteHTML(f); err != nil {
		f.Close()
		return fmt.Errorf("page %s: %w", path, err)
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return fmt.Errorf("page %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("page %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("page %s: %w", path, err)
	}
	return nil
}

// command returns the command line as a person would type it again.
func (p *program) command() string {
	words := []string{"go", "run", "."}
	for _, a := range p.args {
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`*?[]{}()<>|&;!#~") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// share writes a share with three places, as is usual in the field: .871.
func share(x float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", x), "0") }

// points writes a difference of shares in points.
func points(x float64) string { return fmt.Sprintf("%+.1f", 100*x) }
