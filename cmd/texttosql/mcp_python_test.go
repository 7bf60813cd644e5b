package main

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestServeMCPToPython: a client of the Python SDK, over standard input and output and over HTTP, on a server without a model.
// TEXTTOSQL_PYTHON names a Python that has the package mcp.
func TestServeMCPToPython(t *testing.T) {
	python := cmp.Or(os.Getenv("TEXTTOSQL_PYTHON"), "python3")
	if err := exec.CommandContext(t.Context(), python, "-c", "import mcp").Run(); err != nil {
		t.Skip("there is no Python with the package mcp: TEXTTOSQL_PYTHON names one")
	}
	f, db := newFakeProvider(t), singers(t)
	for _, over := range []string{"stdio", "HTTP"} {
		t.Run(over, func(t *testing.T) {
			args := []string{"testdata/mcp-client/client.py"}
			program := asProgram(f, "serve-mcp", "--db", db)
			if over == "stdio" {
				args = append(append(args, "--"), program.Args...)
			} else {
				program = asProgram(f, "serve-mcp", "--db", db, "--http", "127.0.0.1:0")
				errs := newNotes(t)
				program.Stderr = errs.File
				url, _ := startHTTP(t, program, errs)
				args = append(args, url)
			}
			c := exec.CommandContext(t.Context(), python, args...)
			c.Env = program.Env
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
			}
			if err := json.Unmarshal(out, &seen); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got := strings.Join(seen.Tools, " "); got != "check find_value query sample_rows schema" {
				t.Errorf("tools %s", got)
			}
			for what, ok := range map[string]bool{
				"query":   strings.Contains(seen.Query.Text, "Ann\n(first 1 of 2)\nThe next ones: offset 1"),
				"page":    strings.Contains(seen.Page.Text, "Bo\n(1 after the first 1 of 2)"),
				"refused": seen.Refused.IsError && strings.HasPrefix(seen.Refused.Text, "This only reads. Write one SELECT"),
				"wrong":   seen.Wrong.IsError && strings.Contains(seen.Wrong.Text, "this tool takes offset, rows, sql"),
			} {
				if !ok {
					t.Errorf("%s: %s", what, out)
				}
			}
		})
	}
}
