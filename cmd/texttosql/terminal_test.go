package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
)

// screen is a terminal of 100 columns and 30 lines with a shell in it.
type screen struct {
	t    *testing.T
	name string
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-L", s.name, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// keys types; names such as Enter, Up and C-c are keys.
func (s *screen) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys", "-t", "t"}, keys...)...)
}

// until waits for a text on the screen, at its top behind a "^", and returns the screen.
func (s *screen) until(text string, more ...string) string {
	s.t.Helper()
	shown := ""
	for range 1500 {
		if shown = s.tmux(append([]string{"capture-pane", "-p", "-t", "t"}, more...)...); strings.Contains("^"+shown, text) {
			return shown
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.t.Fatalf("no %q on the screen:\n%s", text, shown)
	return ""
}

// changing is what differs from run to run.
var changing = regexp.MustCompile(`[0-9a-f]{32}|· \d+ s|\d{4}-\d\d-\d\d \d\d:\d\d|\d+\.\d s|127\.0\.0\.1:\d+|SQLite 3[.\d]+|\(devel\), go\S+`)

// stable is a screen without what differs from run to run, and without blanks at its ends.
func stable(shown string) string {
	lines := strings.Split(strings.TrimRight(shown, "\n $"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(changing.ReplaceAllString(lines[i], "…"), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// tried is a command of a screen, what is typed once it waits, and the text by which that is seen.
type tried struct {
	command, waits string
	then           []string
}

// widths types a command of each kind in terminals of 80 and 200 columns. The files screen_80.txt and the like have the
// screens. No line is broken by the terminal: that would be within a word.
func (s *screen) widths(name string, commands []tried) {
	for _, width := range []int{80, 200} {
		s.tmux("resize-window", "-t", "t", "-x", fmt.Sprint(width), "-y", "300")
		var all strings.Builder
		for _, one := range commands {
			s.keys("clear", "Enter")
			s.until("^$\n\n")
			s.keys("texttosql "+one.command+`; echo "code $?"`, "Enter")
			end := "\ncode "
			if one.waits != "" {
				s.until(one.waits)
				s.keys(one.then...)
				end = "code 0" // behind ^C
			}
			all.WriteString(stable(s.until(end)) + "\n")
			for i, line := range strings.Split(s.until(end, "-J"), "\n") {
				if line = strings.TrimRight(line, " "); i > 0 && utf8.RuneCountInString(line) > width {
					s.t.Errorf("%d columns, %s: a line is wider:\n%s", width, one.command, line)
				}
			}
		}
		golden.Check(s.t, fmt.Sprintf("screen%s_%d.txt", name, width), []byte(all.String()))
	}
}

// quoted is an argument of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// screens are the commands of a person, and of who sets the program up.
func screens() []tried {
	const years = "SELECT 1 AS revenue_of_the_year_2023, 2 AS revenue_of_the_year_2024, " +
		"'O''Brien \"Bob\"' AS name_of_the_customer, 3 AS orders_of_2023, 4 AS orders_of_2024"
	return []tried{
		{command: `ask -s self-consistency -n 4 --ask-below 0.9 "Who is best?"`},
		{command: `ask -s self-consistency -n 4 --ask-below 0 --why "Who is best?"`},
		{command: `ask -i -s self-consistency -n 4 --ask-below 0.9 "Who is best?"`, waits: "Which one is meant?",
			then: []string{"2", "Enter"}},
		{command: "talk --list --sessions s"}, {command: "log"}, {command: "last"},
		{command: "sql " + quoted(years)}, {command: `sql --types "SELECT id, ordered_on, status, count(*) FROM orders"`},
		{command: `sql "SHOW TABLES"`}, {command: `sql "SELECT * FROM order"`}, {command: `sql <<< '\d orders'`},
		{command: "check " + quoted(neverOrdered)}, {command: "schema orders"}, {command: "list"}, {command: ""},

		{command: "describe -o described.json"}, {command: "describe -o described.json --calls 1"},
		{command: "knowledge import dbt.json"}, {command: "knowledge check sound.json"},
		{command: "knowledge check faulty.json"},
		{command: "eval -s direct --most-wrong 0 questions.jsonl"}, {command: "eval -s direct expected.jsonl"},
		{command: "doctor"}, {command: "doctor --call --db nowhere.db"}, {command: "doctor --descriptions unknown.csv"},
		{command: "config"}, {command: "config --profile small --db postgres://reader:sesame@host/shop"},
		{command: "serve --listen 127.0.0.1:0 --sessions s", waits: "until Ctrl-C", then: []string{"C-c"}},
		{command: "serve --listen 127.0.0.1:0 --sessions s --descriptions unknown.csv", waits: "warning",
			then: []string{"C-c"}},
		{command: "serve --listen 0.0.0.0:8080 --sessions s"},
		{command: "serve-mcp", waits: "serving", then: []string{"C-d"}},
		{command: "serve-mcp --http 127.0.0.1:0 --descriptions unknown.csv", waits: "warning", then: []string{"C-c"}},
	}
}

// helps are the commands, each with --help.
func helps() (all []tried) {
	for _, name := range []string{"ask", "log", "last", "talk", "sql", "check", "schema", "list", "describe", "knowledge",
		"knowledge import", "knowledge check",
		"eval", "doctor", "config", "completion", "serve", "serve-mcp"} {
		all = append(all, tried{command: name + " --help"})
	}
	return all
}

// setUp writes the files that the screens name.
func setUp(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"dbt.json":    `{"semantic_models": [{"name": "a"}], "metrics": [{"name": "m", "type": "cumulative"}], "saved_queries": [{"name": "s"}]}`,
		"sound.json":  strings.NewReplacer(`, ["country"]`, "", "%s", "").Replace(claimed),
		"faulty.json": strings.Replace(claimed, "%s", `, {"name": "nothing", "expr": "SUM(orders.nothing)"}`, 1),
		"unknown.csv": "table,column,description\ncustomers,nickname,what friends say\n",
		"questions.jsonl": `{"question": "How many customers are there?", "sql": "SELECT count(id) FROM customers"}
{"question": "How many products are there?", "sql": "SELECT count(*) FROM products"}
{"question": "What will the weather be?", "sql": "SELECT 1"}
{"question": "How many clients are there?", "sql": "SELECT count(*) FROM clients"}
`,
		"expected.jsonl": `{"question": "How many customers are there?", "rows": [[40]]}
{"question": "How many products are there?", "rows": [[24]], "reads": ["products"]}
`,
		"texttosql/config.toml": "strategy = \"direct\"\n[profiles.small]\nrows = 2\n",
	} {
		path := filepath.Join(dir, name)
		testutil.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		testutil.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
	testutil.OK(t, os.Rename(shopFile(t), filepath.Join(dir, "shop.db")))
}

// TestTerminal: a person's tasks in a terminal. The screens are as the files of testdata have them.
func TestTerminal(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux, which is the terminal of this test, is not installed")
	}
	dir, gone := t.TempDir(), make(chan bool)
	var best atomic.Int32 // calls of "Who is best?"
	env := asking(t, func(prompt string, _ int) string {
		switch _, asked, found := strings.Cut(prompt, "### Question"); {
		case !found: // describe
			return `{"id": "its number", "name": "what it is called"}`
		case strings.Contains(asked, "never ends"):
			<-gone
		case strings.Contains(asked, "never ordered"):
			return neverOrdered
		case strings.Contains(asked, "weather"):
			return "I cannot say."
		case strings.Contains(asked, "How many"):
			return "SELECT count(*) AS n FROM customers"
		}
		if best.Add(1)%4 == 0 { // of four samples one
			return "SELECT count(*) AS n FROM orders"
		}
		return "SELECT count(*) AS n FROM customers"
	})
	t.Cleanup(func() { close(gone) }) // before the server is closed, which waits for its handlers
	setUp(t, dir)
	sh := shell(t, dir, env, "")
	env["PATH"], _ = strings.CutPrefix(sh.Env[0], "PATH=")
	env["TEXTTOSQL_DSN"], env["XDG_CONFIG_HOME"], env["XDG_STATE_HOME"] = "shop.db", ".", dir
	env["PS1"], env["LC_ALL"], env["LESS"], env["PROMPT_COMMAND"] = "$ ", "C.UTF-8", "", ""
	s := &screen{t, fmt.Sprintf("texttosql-%d", os.Getpid())}
	args := []string{"new-session", "-d", "-s", "t", "-x", "100", "-y", "30", "-c", dir, "env"}
	for name, value := range env {
		args = append(args, name+"="+value)
	}
	s.tmux(append(args, "bash", "--norc", "--noprofile")...)
	defer exec.Command("tmux", "-L", s.name, "kill-server").Run()
	s.until("^$\n\n")

	for i, tt := range []struct {
		name  string // of the golden; "": none
		keys  []string
		until string
		leave []string // keys behind the screen
	}{
		{"first", []string{`texttosql ask "Which customers in the USA never ordered?"`, "Enter"}, " tokens", nil},
		{"stdin", []string{`echo "How many customers never ordered?" | texttosql ask --vertical -`, "Enter"}, " tokens", nil},
		{"csv", []string{`texttosql sql -o rows.csv --csv "SELECT id, name FROM customers LIMIT 2"; cat rows.csv; echo done`,
			"Enter"}, "\ndone", nil},
		{"vertical", []string{`texttosql sql --vertical "SELECT id, name, country FROM customers LIMIT 2"`, "Enter"},
			"(2 rows)", nil},
		{"wide", []string{
			`texttosql sql "SELECT c.*, o.*, p.* FROM customers c JOIN orders o ON o.customer_id = c.id JOIN products p ON p.id = o.id LIMIT 3"`,
			"Enter"}, "columns:", nil},
		{"pager", []string{`PAGER=less texttosql sql "SELECT id, name FROM customers"`, "Enter"}, "\n:", []string{"q"}},
		{"profile", []string{`texttosql sql --profile small "SELECT id, name FROM customers"`, "Enter"}, "there are more",
			nil},
		{"refused", []string{`texttosql sql "DELETE FROM customers"; echo "code $?"`, "Enter"}, "\ncode 4", nil},
		{"interrupt", []string{`texttosql ask "Which question never ends?"; echo "code $?"`, "Enter"},
			"asking the model 0/1 ·", nil},
		{"", []string{"C-c"}, "\ncode 130", nil},
		{"talk", []string{"texttosql talk --sessions s -s self-consistency -n 4 --ask-below 0.9", "Enter", "Who is best?",
			"Enter"}, "Type the number", nil},
		{"", []string{"2", "Enter"}, "You chose this reading", nil},
		{"", []string{"C-l"}, "^>", nil},
		{"correction", []string{"no: use table customers", "Enter"}, "calls\n\n>", nil},
		{"", []string{"C-l"}, "^>", nil},
		{"", []string{"/sql", "Enter"}, "FROM customers\n\n>", nil},
		{"history", []string{"Up", "Up", "Left", "Right"}, "> no: use table customers", nil},
		{"", []string{"C-u"}, "\n>\n", nil},
		{"", []string{"/exit", "Enter"}, "\n$", nil},
		{"version", []string{"texttosql --version; echo done", "Enter"}, "\ndone", nil},
	} {
		if i > 0 && strings.Contains(tt.keys[0], "texttosql") {
			s.keys("clear", "Enter")
			s.until("^$\n\n")
		}
		s.keys(tt.keys...)
		shown := s.until(tt.until)
		s.keys(append([]string{""}, tt.leave...)...)
		if tt.name != "" {
			golden.Check(t, "screen_"+tt.name+".txt", []byte(stable(shown)))
		}
	}

	for prefix, coloured := range map[string]bool{"": true, "NO_COLOR=1 ": false} {
		s.keys("clear", "Enter")
		s.until("^$\n\n")
		s.keys(prefix+`texttosql ask "Which customers in the USA never ordered?"`, "Enter")
		if shown := s.until(" tokens", "-e"); strings.Contains(shown, "\x1b[36mSELECT") != coloured {
			t.Errorf("%scolours: %q", prefix, shown)
		}
	}
	s.keys("clear", "Enter")
	s.until("^$\n\n")
	s.keys(`texttosql sql --csv "SELECT char(27) || '[31mr' || 'ed' AS x"`, "Enter")
	if shown := s.until("mred", "-e"); strings.Contains(shown, "\x1b[31mred") {
		t.Errorf("a cell reaches the terminal as it is: %q", shown)
	}
	s.widths("", screens())
	s.widths("_help", helps())
}
