package docstest_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	command "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms/ollama"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/langchain"
)

func folded(s string) string { return strings.Join(strings.Fields(s), " ") }

var ctx = context.Background()

// blocks returns the blocks of a page in a language ("go", "sh").
func blocks(t *testing.T, page, language string) (all []string) {
	t.Helper()
	text := string(testutil.Value(os.ReadFile(page))(t))
	for _, block := range strings.Split(text, "```"+language+"\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		all = append(all, block)
	}
	return all
}

// pages are those of docs/, in order of their names.
func pages(t *testing.T) (all []string) {
	t.Helper()
	testutil.OK(t, fs.WalkDir(os.DirFS("."), "docs", func(name string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".md") {
			all = append(all, name)
		}
		return err
	}))
	return all
}

// isProgram reports whether a block is a whole program, which is compiled as it stands.
func isProgram(block string) bool { return strings.HasPrefix(block, "package main\n") }

// otherModules matches an import of a module of ours other than the root's.
var otherModules = regexp.MustCompile(`"github\.com/texttosql/texttosql/` +
	`(exec/(postgres|mysql|duckdb|trino|bigquery|sqlite/modernc)|llm/gemini|otel|session/pgstore|knowledge/yaml)`)

// TestProgramsOfPages vets each whole program of the README and of docs/ as it stands. Programs of other modules need
// hundreds of megabytes of dependencies, so ".ci/test all" alone builds them.
func TestProgramsOfPages(t *testing.T) {
	count := map[string]int{}
	for _, page := range append(pages(t), "README.md") {
		for _, block := range blocks(t, page, "go") {
			if !isProgram(block) {
				continue
			}
			count[page]++
			if otherModules.MatchString(block) && os.Getenv("TEXTTOSQL_SERVERS") == "" {
				t.Logf("%s: .ci/test all builds the program", page)
				continue
			}
			file := filepath.Join(t.TempDir(), "main.go")
			testutil.OK(t, os.WriteFile(file, []byte(block), 0o600))
			if out, err := command.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil {
				t.Errorf("%s: %v:\n%s%s", page, err, out, block)
			}
		}
	}
	if count["README.md"] == 0 || count["docs/guide.md"] == 0 {
		t.Errorf("whole programs: %v", count)
	}
}

// TestReadmeProgram runs the first Go block of the README, with a server of one reply.
func TestReadmeProgram(t *testing.T) {
	first := blocks(t, "README.md", "go")[0]
	if !isProgram(first) || !strings.Contains(first, `openai.Model("gpt-5-mini")`) {
		t.Fatalf("the first block is no whole program with the simplest client:\n%s", first)
	}
	dir := t.TempDir()
	db := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(dir, "shop.db")))(t)
	testutil.Value(db.Exec(shop))(t)
	testutil.OK(t, db.Close())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text, _ := json.Marshal("```sql\n" + usa + " AND id NOT IN (SELECT customer_id FROM orders)\n```")
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}]}`, text)
	}))
	defer server.Close()
	file, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	testutil.OK(t, os.WriteFile(file, []byte(first), 0o600))
	if out, err := command.CommandContext(t.Context(), "go", "build", "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := command.CommandContext(t.Context(), program)
	run.Dir = dir
	run.Env = append(os.Environ(), "OPENAI_API_KEY=k", "OPENAI_BASE_URL="+server.URL+"/v1")
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), usa) || !strings.Contains(string(out), "samples agree.") {
		t.Errorf("%v: %s", err, out)
	}
	run = command.CommandContext(t.Context(), program)
	run.Dir = dir
	run.Env = append(os.Environ(), "OPENAI_API_KEY=", "OPENAI_BASE_URL=")
	if out, err := run.CombinedOutput(); err == nil || !strings.Contains(string(out), "set OPENAI_API_KEY") {
		t.Errorf("without a key: %v: %s", err, out)
	}
}

// TestGuideModelConforms runs the conformance suite over the guide's program with a model of one's own, as it stands
// there.
func TestGuideModelConforms(t *testing.T) {
	at := slices.IndexFunc(blocks(t, "docs/guide.md", "go"), func(b string) bool {
		return strings.Contains(b, "func ownModel(url string)")
	})
	if at < 0 {
		t.Fatal("the guide has no function ownModel")
	}
	dir := t.TempDir()
	program, test := filepath.Join(dir, "main.go"), filepath.Join(dir, "main_test.go")
	testutil.OK(t, os.WriteFile(program, []byte(blocks(t, "docs/guide.md", "go")[at]), 0o600))
	testutil.OK(t, os.WriteFile(test, []byte(`package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

func Test(t *testing.T) {
	llmtest.Conformance(t, func(t *testing.T, behaviour string) llm.Model {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			switch behaviour {
			case "answers":
				io.WriteString(w, "{\"text\": \"SELECT count(*) FROM singer\"}")
			case "empties":
				io.WriteString(w, "{\"text\": \"\"}")
			case "fails":
				http.Error(w, "bad request", http.StatusBadRequest)
			case "busy":
				w.Header().Set("Retry-After", "1")
				http.Error(w, "busy", http.StatusTooManyRequests)
			case "down":
				http.Error(w, "down", http.StatusServiceUnavailable)
			case "hangs":
				<-r.Context().Done()
			}
		}))
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		return ownModel(server.URL)
	})
}
`), 0o600))
	if out, err := command.CommandContext(t.Context(), "go", "test", program, test).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestReadmeCommands: the two commands of the README stand in one block, with time and memory, and are those that are
// run.
func TestReadmeCommands(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(blocks(t, "README.md", "sh")[0]), "\n")
	if len(lines) != 2 {
		t.Fatalf("want two commands: %q", lines)
	}
	for i, want := range []string{`go run ./examples/quickstart "Which customers in the USA never ordered?"`, ".ci/test"} {
		what, about, _ := strings.Cut(lines[i], "  #")
		if strings.TrimSpace(what) != want || !regexp.MustCompile(`\d+ (s|min).*\d GB`).MatchString(about) {
			t.Errorf("command %d: %q, %q", i+1, what, about)
		}
	}
	run := string(testutil.Value(os.ReadFile(".ci/run"))(t))
	if !strings.Contains(run, "README.md") || strings.Contains(run, "\n.ci/test\n") {
		t.Error(".ci/run does not read its test command from the README")
	}
	if n := strings.Count(string(testutil.Value(os.ReadFile("README.md"))(t)), "\n"); n >= 130 {
		t.Errorf("the README has %d lines", n)
	}
}

// TestReadmeFigures: the figures of votes are the ones of docs/lab/votes.md.
func TestReadmeFigures(t *testing.T) {
	readme := strings.ReplaceAll(string(testutil.Value(os.ReadFile("README.md"))(t)), "**", "")
	lab := string(testutil.Value(os.ReadFile("docs/lab/votes.md"))(t))
	for label, name := range map[string]string{
		"most frequent SQL text": "text", "most frequent result": "result", "`Consensus`, the default": "consensus+decided",
	} {
		shown := cells(t, readme, label)
		measured := cells(t, lab, name)
		right := regexp.MustCompile(`^(\d\d)\.(\d) %$`).FindStringSubmatch(shown[0])
		if right == nil || "."+right[1]+right[2] != measured[1] || rounded(measured[4]) != shown[1] {
			t.Errorf("%s: the README has %q, votes.md %q", label, shown, measured)
		}
	}
}

// cells are those of the first row of a table that begins with label, behind it.
func cells(t *testing.T, page, label string) (all []string) {
	t.Helper()
	for line := range strings.Lines(page) {
		if rest, found := strings.CutPrefix(line, "| "+label+" |"); found {
			for _, cell := range strings.Split(strings.Trim(rest, "| \n"), "|") {
				all = append(all, strings.TrimSpace(cell))
			}
			return all
		}
	}
	t.Fatalf("no row %q", label)
	return nil
}

// rounded is a figure of three digits as one of two.
func rounded(figure string) string {
	var f float64
	fmt.Sscan("0"+figure, &f)
	return strings.TrimPrefix(fmt.Sprintf("%.2f", f), "0")
}

// TestWorkflows: what .github calls is there, and updates are asked for in every module.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob(".github/*/*.yml")
	testutil.OK(t, err)
	if len(files) < 4 {
		t.Fatalf("%q", files)
	}
	for _, file := range files {
		for _, script := range regexp.MustCompile(`\.ci/[a-z]+`).FindAllString(string(testutil.Value(os.ReadFile(file))(t)),
			-1) {
			if info, err := os.Stat(script); err != nil || info.Mode()&0o100 == 0 {
				t.Errorf("%s calls %s: %v", file, script, err)
			}
		}
	}
	modules, err := command.CommandContext(t.Context(), "git", "ls-files", "*go.mod").Output()
	if err != nil {
		t.Skip("no git: ", err)
	}
	updates := string(testutil.Value(os.ReadFile(".github/dependabot.yml"))(t))
	for _, file := range strings.Fields(string(modules)) {
		if dir := filepath.Dir(file); dir != "." && !strings.Contains(updates, "- /"+dir+"\n") {
			t.Errorf(".github/dependabot.yml has no %s", dir)
		}
	}
}

func Example_langchain() {
	var db *sql.DB
	client, err := ollama.New(ollama.WithModel("llama3.1"), ollama.WithHTTPClient(langchain.HTTPClient(nil)))
	engine, err := texttosql.New(db, langchain.Model(client))
	_, _ = engine, err
}

var (
	goTest = regexp.MustCompile(`go test [^\n` + "`" + `#]*`)
	picks  = regexp.MustCompile(`-(?:run|bench|fuzz)[= ](?:'([^']*)'|(\S+))`)
	goRun  = regexp.MustCompile(`go (?:run|build|install) (\./[\w/]+)`)
	isTest = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)
)

// TestGoCommandsOfPages: the tests, benchmarks and programs that a page's commands name are there.
func TestGoCommandsOfPages(t *testing.T) {
	for _, page := range append(pages(t), "README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md") {
		text := string(testutil.Value(os.ReadFile(page))(t))
		for _, m := range goRun.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s: %s: %v", page, m[0], err)
			}
		}
		for _, line := range goTest.FindAllString(text, -1) {
			var folders []string
			for _, word := range strings.Fields(line) {
				if strings.HasPrefix(word, "./") {
					folders = append(folders, word)
				}
			}
			if len(folders) == 0 {
				continue // the sentence says where
			}
			for _, pick := range picks.FindAllStringSubmatch(line, -1) {
				for _, name := range strings.Split(pick[1]+pick[2], "|") {
					name = strings.Trim(strings.Split(name, "/")[0], "^$.'")
					if strings.ToLower(name) != "xxx" && !isThere(t, folders, name) {
						t.Errorf("%s: %s: no test in %q is called %s", page, line, folders, name)
					}
				}
			}
		}
	}
}

// isThere reports whether a test of folders has a name with a part in it, as -run reads it.
func isThere(t *testing.T, folders []string, part string) bool {
	t.Helper()
	for _, folder := range folders {
		for _, root := range []string{".", "lab", "cmd/texttosql"} { // commands of a page of docs/lab are said to run in lab
			files, _ := filepath.Glob(filepath.Join(root, strings.TrimSuffix(folder, "/..."), "*_test.go"))
			for _, file := range files {
				for _, m := range isTest.FindAllStringSubmatch(string(testutil.Value(os.ReadFile(file))(t)), -1) {
					if strings.Contains(m[1], part) {
						return true
					}
				}
			}
		}
	}
	return false
}
