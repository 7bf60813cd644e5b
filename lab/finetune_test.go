package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrainReads: finetune/train.py reads exactly what export writes, and refuses anything else.
func TestTrainReads(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: train.py cannot be run")
	}
	dir := data(t)
	pairs, train := filepath.Join(dir, "pairs.jsonl"), filepath.Join(dir, "train.jsonl")
	write(t, pairs, `{"question": "Ids with a \"quote\", <b> & Zürich\u2028?", "sql": "SELECT id FROM customers"}
{"question": "Which countries are there?", "sql": "SELECT DISTINCT country FROM customers"}
{"question": "Which names?", "sql": "SELECT name, 'a\u0085b'\nFROM customers"}
`)
	manifest := strings.TrimSuffix(train, ".jsonl") + ".manifest.json"
	if _, notes, err := evaluate(t, nil, "export", "--data", dir, "--db", "shop", "--pairs", pairs, "--k", "1", "--out",
		train); err != nil {
		t.Fatal(err, notes)
	}
	check := func(path string) (string, error) {
		out, err := exec.Command(python, "-B", filepath.Join("finetune", "train.py"), path, "--check").CombinedOutput()
		return string(out), err
	}
	if out, err := check(train); err != nil || !strings.Contains(out, "3 pairs, 1 exemplars a prompt") ||
		!strings.Contains(out, `"rate": 0.0001`) {
		t.Fatalf("%v\n%s", err, out)
	}
	lines, _ := os.ReadFile(train)
	about, _ := os.ReadFile(manifest)
	for _, tt := range []struct {
		why, lines, manifest string
		want                 string
	}{
		{"another file", string(lines) + string(lines), string(about),
			"it is not the file that train.manifest.json describes"},
		{"no manifest", string(lines), "", "there is no such file"},
		{"a manifest of another version", string(lines), strings.Replace(string(about), `"version": 1`, `"version": 2`, 1),
			"no manifest of version 1"},
		{"no JSON", string(lines), "{", "train.manifest.json: "},
		{"a count that differs", string(lines), strings.Replace(string(about), `"kept": 3`, `"kept": 4`, 1),
			"the manifest counts 4"},
	} {
		write(t, train, tt.lines)
		os.Remove(manifest)
		if tt.manifest != "" {
			write(t, manifest, tt.manifest)
		}
		if out, err := check(train); err == nil || !strings.Contains(out, tt.want) || strings.Contains(out, "Traceback") {
			t.Errorf("%s: %v\n%s", tt.why, err, out)
		}
	}
}
