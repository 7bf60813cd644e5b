// Package page writes figures as one HTML document without scripts, fonts, images and network. It reads well in light and
// dark, on a telephone and on a wide screen.
//
// It samples the charts as SVG. A chart library would load its script from another server or put a megabyte into every page.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
)

// Page is a document.
type Page struct {
	Title   string
	Intro   string // a paragraph
	Command string // makes the page again
	Facts   []Fact
	Figures []Figure
	Tables  []Table
	Notes   []string
}

// Fact is a figure with its name.
type Fact struct{ Name, Value, Note string }

// Figure is a chart with its heading.
type Figure struct {
	Title string
	Note  string // how to read it
	Wide  bool   // it takes a whole row
	chart template.HTML
}

// Chart is the sampling, for the template.
func (f Figure) Chart() template.HTML { return f.chart }

// Table is a table. Columns of numbers are aligned right.
type Table struct {
	Title   string
	Note    string
	Columns []string
	Rows    [][]string
}

// Right reports whether a column holds only numbers, so that it is aligned right.
func (t Table) Right(column int) bool {
	for _, row := range t.Rows {
		if column < len(row) && !isNumber(row[column]) {
			return false
		}
	}
	return len(t.Rows) > 0
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// WriteHTML writes the page. It writes nothing if the page cannot be made.
func (p Page) WriteHTML(w io.Writer) error {
	t, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	sum := sha256.Sum256([]byte(pageCSS))
	var out bytes.Buffer
	if err := t.Execute(&out, struct {
		Page
		CSS    template.CSS
		Policy string
	}{p, template.CSS(pageCSS), "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"}); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// isNumber reports whether a cell is empty or holds only figures.
func isNumber(cell string) bool {
	for _, word := range strings.Fields(cell) {
		if word == "–" || word == "%" || word == "to" {
			continue
		}
		if _, err := strconv.ParseFloat(word, 64); err != nil {
			return false
		}
	}
	return true
}
