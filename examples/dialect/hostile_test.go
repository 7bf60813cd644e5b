package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
)

// hostile is a line of security/payloads*.jsonl of the recorded data.
type hostile struct {
	ID, Engine, Expect, Why, Text string
	Base64                        []byte
	Rows                          int
	Generator                     struct {
		Prefix, Repeat, Middle, Close, Suffix string
		Times                                 int
	}
	Policy struct {
		DenyColumns []string `json:"deny_columns"`
		DenyTables  []string `json:"deny_tables"`
	}
}

// excess are harmless statements that this dialect refuses, and why.
var excess = map[string]string{}

// TestHostile runs the hostile and the harmless statements for SQLite of the recorded data.
func TestHostile(t *testing.T) {
	data := os.Getenv("TEXTTOSQL_DATA")
	if data == "" {
		t.Skip("TEXTTOSQL_DATA is not set: no recorded data")
	}
	e := engine()
	for _, name := range []string{"payloads.jsonl", "payloads_resources.jsonl"} {
		file, err := os.Open(filepath.Join(data, "security", name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for lines := json.NewDecoder(file); lines.More(); {
			var h hostile
			if err := lines.Decode(&h); err != nil {
				t.Fatal(err)
			}
			if h.Engine != "sqlite" {
				continue
			}
			g := h.Generator
			p := exectest.Payload{
				Name: h.ID, Why: h.Why, Expect: exectest.Expectation(h.Expect), Rows: h.Rows,
				SQL: h.Text + string(h.Base64) + g.Prefix + strings.Repeat(g.Repeat, g.Times) + g.Middle +
					strings.Repeat(g.Close, g.Times) + g.Suffix,
				Policy: exec.Policy{DenyColumns: h.Policy.DenyColumns, DenyTables: h.Policy.DenyTables},
			}
			if why := excess[h.ID]; why != "" {
				p.Expect, p.Why = exectest.Refuse, why
			}
			e.Payloads = append(e.Payloads, p)
		}
	}
	exectest.Payloads(t, e)
}
