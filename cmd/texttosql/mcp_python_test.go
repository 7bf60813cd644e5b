package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestServeMCPToPython: a client of the Python SDK, over standard input and output and over HTTP: it lists the tools,
// reads 2,144 rows in pages, and asks.
// TEXTTOSQL_PYTHON names a Python that has the package mcp.
func TestServeMCPToPython(t *testing.T) {
	python := cmp.Or(os.Getenv("TEXTTOSQL_PYTHON"), "python3")
	if err := exec.CommandContext(t.Context(), python, "-c", "import mcp").Run(); err != nil {
		t.Skip("there is no Python with the package mcp: TEXTTOSQL_PYTHON names one")
	}
	f := newFakeProvider(t)
	for _, over := range []string{"stdio", "HTTP"} {
		t.Run(over, func(t *testing.T) {
			args, env := []string{"testdata/mcp-client/client.py"}, os.Environ()
			if over == "stdio" {
				program := serveProgram(t, f)
				args, env = append(append(args, "--"), program.Args...), program.Env
			} else {
				url, _ := serveHTTP(t, f)
				args = append(args, url)
			}
			c := exec.CommandContext(t.Context(), python, args...)
			c.Env = env
			errs := newNotes(t)
			c.Stderr = errs.File
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%v\n%s%s", err, out, errs.text())
			}
			type result struct {
				IsError bool
				Text    string
			}
			var seen struct {
				Tools                       []string
				Query, Page, Refused, Wrong result
				Numbers                     []int
				Answer                      struct {
					Status string
					Rows   [][]int
				}
			}
			if err := json.Unmarshal(out, &seen); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got := strings.Join(seen.Tools, " "); got != "ask check choose confirm correct explain_answer find_value query "+
				"sample_rows schema" {
				t.Errorf("tools %s", got)
			}
			for what, ok := range map[string]bool{
				"2,144 rows": counts(seen.Numbers),
				"the answer": seen.Answer.Status == "answered" && fmt.Sprint(seen.Answer.Rows) == "[[2]]",
				"query":      strings.Contains(seen.Query.Text, "Ann\n(first 1 of 2)\nThe next ones: offset 1"),
				"page":       strings.Contains(seen.Page.Text, "Bo\n(1 after the first 1 of 2)"),
				"refused":    seen.Refused.IsError && strings.HasPrefix(seen.Refused.Text, "This only reads. Write one SELECT"),
				"wrong":      seen.Wrong.IsError && strings.Contains(seen.Wrong.Text, "this tool takes offset, rows, sql"),
			} {
				if !ok {
					t.Errorf("%s: %s", what, out)
				}
			}
		})
	}
}
