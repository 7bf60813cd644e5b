package main

import (
	"strings"
	"testing"
)

// TestSettings: the command line comes before variables, those before the profile, that before the top of the file; a
// mistake in the file is told without what the file holds.
func TestSettings(t *testing.T) {
	db := shopFile(t)
	conf := file(t, "config.toml", `db = "`+db+`"
strategy = "direct"
samples = 9
[profiles.prod]
rows = 2
policy = ["`+file(t, "p.json", `{"DenyColumns": ["customers.name"]}`)+`"]
[profiles.secret]
db = "postgres://reader:`+secret+`@127.0.0.1:1/shop"
[profiles.slip]
stratgy = "direct"
`)
	broken := file(t, "broken.toml", "db = postgres://u:"+secret+"@h/d\n")
	env := with(asking(t, always("SELECT id FROM customers")), "TEXTTOSQL_CONFIG", conf)
	count := "SELECT id FROM customers"
	for _, tt := range []struct {
		why      string
		env      string // NAME=VALUE
		args     []string
		code     int
		out, err string
	}{
		{"the top of the file", "", []string{"sql", count}, exitAnswer, "(40 rows)", ""},
		{"a profile", "", []string{"sql", "--profile", "prod", count}, exitAnswer, "(first 2 rows; there are more)", ""},
		{"its policy", "TEXTTOSQL_PROFILE=prod", []string{"sql", "SELECT name FROM customers"}, exitRefused, "", "policy"},
		{"a variable before the profile", "TEXTTOSQL_ROWS=3", []string{"sql", "--profile", "prod", count}, exitAnswer,
			"(first 3 rows", ""},
		{"a flag before the variable", "TEXTTOSQL_ROWS=3", []string{"sql", "--profile", "prod", "--rows", "4", count},
			exitAnswer, "(first 4 rows", ""},
		{"a flag of its own kind", "TEXTTOSQL_FORMAT=csv", []string{"sql", "--rows", "1", count}, exitCut, "id\n1\n",
			"only the first 1 row: --rows sets how many; sql --all writes all\n"},
		{"the strategy of the file", "", []string{"ask", "-n", "1", "Who?"}, exitAnswer, "not voted on", ""},
		{"what is in force", "TEXTTOSQL_ASK_BELOW=0.5", []string{"config", "--profile", "prod", "--calls", "7"}, exitAnswer,
			"ask-below      0.5", ""},
		{"a password is not shown", "", []string{"config", "--profile", "secret"}, exitAnswer,
			"postgres://…@127.0.0.1:1/shop", ""},
		{"nor in an error", "", []string{"sql", "--profile", "secret", count}, exitError, "", "no server"},
		{"a misspelt key", "", []string{"sql", "--profile", "slip", count}, exitUsage, "",
			`: no flag is called "stratgy", did you mean "strategy"?`},
		{"a misspelt profile", "", []string{"sql", "--profile", "prd", count}, exitUsage, "",
			`no profile "prd", did you mean "prod"?`},
		{"no such profile", "", []string{"sql", "--profile", "test", count}, exitUsage, "",
			`no profile "test"; it has prod, secret, slip`},
		{"a file that is none", "", []string{"sql", "--config", broken, count}, exitUsage, "", "texttosql: --config: " +
			broken + ": line 1: this is no TOML"},
		{"a swap of two letters", "", []string{"sql", "--config", file(t, "swap.toml", "modle = 'x'"), count}, exitUsage, "",
			`"modle", did you mean "model"?`},
		{"a file that is not there", "TEXTTOSQL_CONFIG=/nowhere.toml", []string{"sql", count}, exitUsage, "",
			"texttosql: --config: /nowhere.toml: no such file"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			env := env
			if name, value, ok := strings.Cut(tt.env, "="); ok {
				env = with(env, name, value)
			}
			code, out, told := try(t, env, "", tt.args...)
			if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(told, tt.err) {
				t.Errorf("code %d, want %d, %q and %q\n%s%s", code, tt.code, tt.out, tt.err, out, told)
			}
		})
	}
	_, out, _ := try(t, with(env, "TEXTTOSQL_ASK_BELOW", "0.5"), "", "config", "--profile", "prod", "--calls", "7")
	for _, line := range []string{"TEXTTOSQL_ASK_BELOW", "profile prod", "command line", "default", "file " + conf} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
}

// TestConfigShowsNoSecret: the verb config shows of a DSN the server and the database, and nothing that only some know.
func TestConfigShowsNoSecret(t *testing.T) {
	for _, tt := range []struct{ why, db, want string }{
		{"a password", "postgres://reader:s3cret@h:5432/shop", "postgres://…@h:5432/shop"},
		{"without a password", "mysql://h/shop", "mysql://…@h/shop"},
		{"a key in the query", "https://h:8443?catalog=c&access_token=s3cret", "https://…@h:8443"},
		{"a project", "bigquery://s3cret", "bigquery://…"},
		{"a project and a dataset", "bigquery://s3cret/s3cret", "bigquery://…"},
		{"in capitals", "BigQuery://s3cret", "bigquery://…"},
		{"a bucket", "gs://s3cret/db.sqlite", "gs://…"},
		{"a password with a slash", "postgres://u:1/s3cret@h/d", "postgres://…"},
		{"a password with a number sign", "postgres://u:1#s3cret@h/d", "postgres://…"},
		{"a password with a question mark", "postgres://u:1?s3cret@h/d", "postgres://…"},
		{"a password with a percent sign", "postgres://u:%s3cret@h/d", "(a DSN)"},
		{"the form of the driver", "u:s3cret@tcp(h:1)/d", "(a DSN)"},
		{"words", "host=h password=s3cret", "(a DSN)"},
		{"a file", "data/shop.sqlite", "data/shop.sqlite"},
	} {
		for _, flag := range []string{"db", "lessons", "confirmed"} { // all of them take a DSN
			_, out, _ := try(t, nil, "", "config", "--"+flag, tt.db)
			shown := ""
			for line := range strings.Lines(out) {
				if rest, ok := strings.CutPrefix(line, flag+" "); ok {
					shown = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "command line"))
				}
			}
			if shown != tt.want || strings.Contains(out, "s3cret") {
				t.Errorf("%s: --%s is shown as %q, want %q in\n%s", tt.why, flag, shown, tt.want, out)
			}
		}
	}
}

// TestShowPromptsAndReplies: who runs a model of their own can see what it was sent and what it said.
func TestShowPromptsAndReplies(t *testing.T) {
	env := with(asking(t, always("SELECT count(*) AS n FROM customers")), "TEXTTOSQL_DSN", shopFile(t))
	_, _, told := try(t, env, "", "ask", "-s", "direct", "--show-prompts", "--show-replies", "How many?")
	for _, want := range []string{"── prompt of sample 0\n", "How many?", "── reply of sample 0\n",
		"```sql\nSELECT count(*) AS n"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
	if _, _, told := try(t, env, "", "ask", "-s", "direct", "How many?"); told != "" {
		t.Errorf("told without being asked: %s", told)
	}
}

// TestCompletion: verbs, flags, their values, and what only the file of settings and the database know.
func TestCompletion(t *testing.T) {
	conf := file(t, "config.toml", "[profiles.prod]\nmodel = 'openai:mine'\n[profiles.preview]\ndb = '"+shopFile(t)+"'\n")
	for _, tt := range []struct{ why, words, want string }{
		{"a verb", "serve-", "serve-mcp"},
		{"a verb below a verb", "knowledge imp", "import"},
		{"a flag", "ask --with", "--within --without-values"},
		{"a list of a flag", "sql --format js", "json jsonl"},
		{"behind an equals sign", "ask --strategy=pet", "--strategy=petsql --strategy=petsql-compat"},
		{"a model of a provider", "ask --model oll", "ollama:"},
		{"a model of the file", "ask -m openai:m", "openai:mine"},
		{"a profile", "sql --profile pr", "preview prod"},
		{"a table of the database of a profile", "schema --profile preview cust", "customers"},
		{"a second table", "schema --profile preview customers order", "order_items orders"},
		{"a table of a database that is not there", "schema --db /nowhere.db cust", ""},
		{"a file belongs here", "sql --policy ", ""},
		{"the words of a question", "ask customers", ""},
		{"a shell", "completion ", "bash fish zsh"},
	} {
		words := strings.Split(tt.words, " ")
		code, out, told := try(t, map[string]string{"TEXTTOSQL_CONFIG": conf}, "",
			append([]string{"complete", "--"}, words...)...)
		if got := strings.Join(strings.Fields(out), " "); code != exitAnswer || got != tt.want || told != "" {
			t.Errorf("%s: code %d, %q, want %q %s", tt.why, code, got, tt.want, told)
		}
	}
}
