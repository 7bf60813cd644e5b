package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/texttosql/texttosql/internal/testutil"
)

// shell returns a command of bash in a folder, in which texttosql is this program.
func shell(t *testing.T, dir string, env map[string]string, line string) *exec.Cmd {
	t.Helper()
	bin := t.TempDir()
	script := "#!/bin/sh\nTEXTTOSQL_TEST_PROGRAM=1 exec '" + os.Args[0] + "' \"$@\"\n"
	testutil.OK(t, os.WriteFile(filepath.Join(bin, "texttosql"), []byte(script), 0o755))
	c := exec.CommandContext(t.Context(), "bash", "-c", line)
	c.Dir = dir
	c.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	for name, value := range env {
		c.Env = append(c.Env, name+"="+value)
	}
	return c
}

// commands returns the lines of the code blocks of the README, and those of other pages that use files of the test.
func commands(t *testing.T) (found []string) {
	t.Helper()
	for _, page := range []string{"README.md", "../../docs/guide.md", "../../docs/tuning.md", "../../docs/cookbook.md"} {
		text := testutil.Value(os.ReadFile(page))(t)
		for _, block := range strings.Split(string(text), "```sh\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			found = append(found, strings.Split(strings.TrimSpace(block), "\n")...)
		}
	}
	return found
}

// TestReadme runs each command of the README in a shell, with a model of the test's own. Servers are interrupted.
func TestReadme(t *testing.T) {
	env := asking(t, func(prompt string, _ int) string {
		switch {
		case strings.Contains(prompt, "Columns to describe"):
			return `{"id": "number of the row", "name": "what it is called"}`
		case strings.Contains(prompt, "never ordered"):
			return neverOrdered
		}
		return "SELECT count(*) AS customers FROM customers"
	})
	env["TEXTTOSQL_DSN"] = "shop.db"
	dir := filepath.Dir(shopFile(t))
	page := testutil.Value(os.ReadFile("README.md"))(t)
	for line := range strings.Lines(string(page)) { // "    policy.json   {…}"
		name, content, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && strings.HasPrefix(line, "    ") && strings.HasSuffix(name, ".json") {
			testutil.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
		}
	}
	questions := `{"question": "Which customers in the USA never ordered?", "sql": "` + neverOrdered + `"}
{"question": "How many orders are there?", "sql": "SELECT count(*) FROM orders"}`
	testutil.OK(t, os.WriteFile(filepath.Join(dir, "questions.jsonl"), []byte(questions), 0o600))
	wants := map[string]string{
		"ask": "Mina Jansen", "ask --csv": "", "ask --json": `"exit":0`, "ask --policy": "customers", "check": "accepted",
		"sql": "country", "sql --db": "", "schema": "customer_id",
		"describe": "descriptions, ", "eval": "EX 0.500", "talk": "customers", "completion": "complete",
		"log": "shop.db", "last": "", "doctor": "ok   database",
	}
	for _, line := range commands(t) {
		line = strings.Replace(line, "go run ./cmd/texttosql", "texttosql", 1)
		_, words, _ := strings.Cut(line, "texttosql ")
		fields := strings.Fields(words)
		want, ok := wants[fields[0]+" "+fields[1%len(fields)]]
		if !ok {
			want = wants[fields[0]]
		}
		t.Run(fields[0], func(t *testing.T) {
			c := shell(t, dir, env, line)
			if strings.HasPrefix(fields[0], "serve") {
				startServer(t, c, fields[0])
				return
			}
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %v, want %q\n%s", line, err, want, out)
			}
		})
	}
	written := map[string]string{"never.csv": "name\nMina Jansen\nNoor Hughes\n", "report.csv": "country,customers\n",
		"again.csv": "name\n",
		"page.html": "<html", "shop.descriptions.json": "number of the row"}
	for name, want := range written {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// startServer starts a server, waits for its first line or for the end of its standard input, and interrupts it.
func startServer(t *testing.T, c *exec.Cmd, verb string) {
	t.Helper()
	c.Args[2] = "exec " + c.Args[2]
	if verb == "serve" {
		c.Args[2] += " --listen 127.0.0.1:0"
	}
	var told bytes.Buffer
	c.Stderr = &told
	out := testutil.Value(c.StdoutPipe())(t)
	testutil.OK(t, c.Start())
	if verb == "serve" {
		line := make([]byte, 100)
		n, err := out.Read(line)
		if err != nil || !strings.Contains(string(line[:n]), "http://127.0.0.1:") {
			t.Errorf("%s: %q, %v, %s", verb, line[:n], err, &told)
		}
		testutil.OK(t, c.Process.Signal(syscall.SIGINT))
	}
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 0 && code != exitInterrupted {
		t.Errorf("%s: code %d\n%s", verb, code, &told)
	}
}

// before is what may stand before a command in a line: a prompt, variables.
var before = regexp.MustCompile(`^\s*(?:[$] )?(?:[A-Z_]+=\S* )*$`)

// TestCommandsOfPages: each command of a page that stands in a line of its own, or begins an image, is one that the
// program reads, and has what it cannot do without.
func TestCommandsOfPages(t *testing.T) {
	count := 0
	for _, folder := range []string{".", "../..", "../../docs", "../../docs/databases", "../../docs/lab"} {
		for _, page := range testutil.Value(filepath.Glob(filepath.Join(folder, "*.md")))(t) {
			text := string(testutil.Value(os.ReadFile(page))(t))
			for line := range strings.Lines(text) {
				args := argsOf(t, line)
				if args == nil {
					continue
				}
				count++
				command, err := parsed(t, args)
				if err != nil {
					t.Errorf("%s: %s: %v", page, strings.TrimSpace(line), err)
				} else if lacks := lacking(command, text); len(lacks) > 0 {
					t.Errorf("%s: %s: it lacks %q", page, strings.TrimSpace(line), lacks)
				}
			}
		}
	}
	if count < 20 {
		t.Errorf("%d commands", count)
	}
}

// argsOf are the arguments of the command in a line of a page; nil: there is none.
func argsOf(t *testing.T, line string) (args []string) {
	t.Helper()
	if list, ok := strings.CutPrefix(strings.TrimSpace(line), "CMD "); ok {
		testutil.OK(t, json.Unmarshal([]byte(list), &args), line)
		return args
	}
	lead, words, ok := strings.Cut(line, "texttosql ")
	if verb, _, _ := strings.Cut(words, " "); !ok || !before.MatchString(lead) || !isVerb(t, strings.TrimSpace(verb)) {
		return nil
	}
	words, _, _ = strings.Cut(words, "|")
	words, _, _ = strings.Cut(words, " > ")
	out := testutil.Value(exec.CommandContext(t.Context(), "bash", "-c",
		"texttosql() { printf '%s\\0' \"$@\"; }; texttosql "+words).Output())(t, line)
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// lacking are the flags without which a command of a page ends with a usage error, or a server refuses those who come:
// a database and a model, unless the page says in which variables they are, and the name of a server for others.
func lacking(k *kong.Context, page string) (flags []string) {
	given, has := map[string]string{}, map[string]bool{}
	for _, f := range k.Selected().Flags {
		has[f.Name] = true
	}
	for _, p := range k.Path {
		if p.Flag != nil {
			given[p.Flag.Name] = fmt.Sprint(k.FlagValue(p.Flag))
		}
	}
	wants := map[string]bool{
		"db":    has["db"] && !strings.Contains(page, "TEXTTOSQL_DSN"),
		"model": k.Selected().Name == "describe" && !strings.Contains(page, "TEXTTOSQL_MODEL"),
	}
	if at := given["listen"] + given["http"]; at != "" {
		host, _, _ := net.SplitHostPort(at)
		wants["host"] = !net.ParseIP(host).IsLoopback()
	}
	for flag, wanted := range wants {
		if _, ok := given[flag]; wanted && !ok {
			flags = append(flags, "--"+flag)
		}
	}
	slices.Sort(flags)
	return flags
}

// parsed reads a command line.
func parsed(t *testing.T, args []string) (*kong.Context, error) {
	t.Helper()
	p := &program{ctx: t.Context(), out: io.Discard, err: io.Discard, getenv: func(string) string {
		return ""
	}, args: args}
	return testutil.Value(p.parser(&verbs{}, &settings{p: p, where: map[string]string{}},
		kong.Exit(func(int) {})))(t).Parse(args)
}

// isVerb reports whether the program has a verb.
func isVerb(t *testing.T, name string) bool {
	t.Helper()
	p := &program{ctx: t.Context(), getenv: func(string) string { return "" }}
	parser := testutil.Value(p.parser(&verbs{}, &settings{p: p, where: map[string]string{}}))(t)
	return slices.ContainsFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == name })
}
