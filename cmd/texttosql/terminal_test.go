package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/need"
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
var changing = regexp.MustCompile(`[0-9a-f]{32}|· \d+ s`)

// TestTerminal: a person's tasks in a terminal. The screens are as the files of testdata have them.
func TestTerminal(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux, which is the terminal of this test, is not installed")
	}
	dir, gone := t.TempDir(), make(chan bool)
	env := asking(t, func(prompt string, call int) string {
		switch _, asked, _ := strings.Cut(prompt, "### Question"); {
		case strings.Contains(asked, "never ends"):
			<-gone
		case strings.Contains(asked, "never ordered"):
			return neverOrdered
		}
		if call%4 == 0 { // of four samples one
			return "SELECT count(*) AS n FROM orders"
		}
		return "SELECT count(*) AS n FROM customers"
	})
	t.Cleanup(func() { close(gone) }) // before the server is closed, which waits for its handlers
	conf := filepath.Join(dir, "texttosql", "config.toml")
	need.OK(t, os.MkdirAll(filepath.Dir(conf), 0o755))
	need.OK(t, os.WriteFile(conf, []byte("strategy = \"direct\"\n[profiles.small]\nrows = 2\n"), 0o600))
	sh := shell(t, dir, env, "")
	env["PATH"], _ = strings.CutPrefix(sh.Env[0], "PATH=")
	env["TEXTTOSQL_DSN"], env["XDG_CONFIG_HOME"], env["XDG_STATE_HOME"] = shopFile(t), dir, dir
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
		{"first", []string{`texttosql ask "Which customers in the USA never ordered?"`, "Enter"}, "samples saved", nil},
		{"stdin", []string{`echo "How many customers never ordered?" | texttosql ask --vertical -`, "Enter"}, "samples saved", nil},
		{"csv", []string{`texttosql sql -o rows.csv --csv "SELECT id, name FROM customers LIMIT 2"; cat rows.csv; echo done`, "Enter"}, "\ndone", nil},
		{"vertical", []string{`texttosql sql --vertical "SELECT id, name, country FROM customers LIMIT 2"`, "Enter"}, "(2 rows)", nil},
		{"wide", []string{`texttosql sql "SELECT c.*, o.*, p.* FROM customers c JOIN orders o ON o.customer_id = c.id JOIN products p ON p.id = o.id LIMIT 3"`,
			"Enter"}, "columns:", nil},
		{"pager", []string{`PAGER=less texttosql sql "SELECT id, name FROM customers"`, "Enter"}, "\n:", []string{"q"}},
		{"profile", []string{`texttosql sql --profile small "SELECT id, name FROM customers"`, "Enter"}, "there are more", nil},
		{"refused", []string{`texttosql sql "DELETE FROM customers"; echo "code $?"`, "Enter"}, "\ncode 4", nil},
		{"interrupt", []string{`texttosql ask "Which question never ends?"; echo "code $?"`, "Enter"}, "asking the model 0/1 ·", nil},
		{"", []string{"C-c"}, "\ncode 130", nil},
		{"talk", []string{"texttosql talk --sessions s -s self-consistency -n 4 --ask-below 0.9", "Enter", "Who is best?", "Enter"}, "Type the number", nil},
		{"", []string{"2", "Enter"}, "Confidence 1.00", nil},
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
			lines := strings.Split(strings.TrimRight(shown, "\n $"), "\n")
			for i := range lines {
				lines[i] = strings.TrimRight(changing.ReplaceAllString(lines[i], "…"), " ")
			}
			golden.Check(t, "screen_"+tt.name+".txt", []byte(strings.Join(lines, "\n")+"\n"))
		}
	}

	for prefix, coloured := range map[string]bool{"": true, "NO_COLOR=1 ": false} {
		s.keys("clear", "Enter")
		s.until("^$\n\n")
		s.keys(prefix+`texttosql ask "Which customers in the USA never ordered?"`, "Enter")
		if shown := s.until("samples saved", "-e"); strings.Contains(shown, "\x1b[36mSELECT") != coloured {
			t.Errorf("%scolours: %q", prefix, shown)
		}
	}
	s.keys("clear", "Enter")
	s.until("^$\n\n")
	s.keys(`texttosql sql --csv "SELECT char(27) || '[31mr' || 'ed' AS x"`, "Enter")
	if shown := s.until("mred", "-e"); strings.Contains(shown, "\x1b[31mred") {
		t.Errorf("a cell reaches the terminal as it is: %q", shown)
	}
}
