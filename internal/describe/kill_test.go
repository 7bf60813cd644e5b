package describe_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/describe"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
)

// TestMain is also the process that TestDescribeKilled kills.
func TestMain(m *testing.M) {
	if database := os.Getenv("DESCRIBE_DATABASE"); database != "" {
		if err := child(database, os.Getenv("DESCRIBE_FILE"), os.Getenv("DESCRIBE_ASKED")); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child describes a database, writes down what it asks, and kills itself after the first table.
func child(database, file, asked string) error {
	pool, err := sql.Open("sqlite3", "file:"+database+"?mode=ro")
	if err != nil {
		return err
	}
	defer pool.Close()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		return err
	}
	w := &writer{}
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		resp, err := w.Complete(ctx, req)
		log, fault := os.OpenFile(asked, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if fault != nil {
			return resp, fault
		}
		_, fault = log.WriteString(w.take()[0] + "\n")
		return resp, errors.Join(err, fault, log.Close())
	})
	c := describe.Columns{Model: model, File: file, Progress: func(schema.TableName, bool, int, int) {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill() // SIGKILL
		}
		if err != nil {
			panic(err)
		}
		select {}
	}}
	_, err = c.Describe(context.Background(), db, nil)
	return err
}

// TestDescribeKilled: a process that is killed after each table and started anew asks about no table twice, and the
// file is whole at every moment.
func TestDescribeKilled(t *testing.T) {
	database := filepath.Join(t.TempDir(), "market.sqlite")
	made := testutil.Value(sql.Open("sqlite3", "file:"+database))(t)
	_, err := made.Exec(strategytest.MarketSQL)
	testutil.OK(t, errors.Join(err, made.Close()))
	pool := testutil.Value(sql.Open("sqlite3", "file:"+database+"?mode=ro"))(t)
	defer pool.Close()
	env := strategytest.EnvAt(t, pool, nil)
	dir := t.TempDir()
	file, asked := filepath.Join(dir, "d.json"), filepath.Join(dir, "asked")
	whole := func() (f schema.DescriptionFile) {
		text, err := os.ReadFile(file)
		if err == nil {
			f, err = schema.ReadDescriptions(bytes.NewReader(text))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) || len(f.Notes) > 0 {
			t.Errorf("the file is not whole: %v %q\n%s", err, f.Notes, text)
		}
		return f
	}
	for n := range env.Schema.Tables {
		cmd := osexec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "DESCRIBE_DATABASE="+database, "DESCRIBE_FILE="+file, "DESCRIBE_ASKED="+asked)
		var said bytes.Buffer
		cmd.Stderr = &said
		testutil.OK(t, cmd.Start())
		ended := make(chan error)
		go func() { ended <- cmd.Wait() }()
		for over := false; !over; {
			select {
			case err := <-ended:
				if over = true; err == nil || !strings.Contains(err.Error(), "killed") {
					t.Fatalf("table %d: the process ended with %v, not killed: %s", n, err, said.String())
				}
			default:
			}
			whole()
		}
		if got := len(whole().Tables); got != n+1 {
			t.Fatalf("%d tables after %d processes", got, n+1)
		}
	}
	var want []string
	columns := 0
	for _, table := range env.Schema.Tables {
		var names []string
		for _, c := range table.Columns {
			names = append(names, c.Name)
		}
		columns += len(names)
		want = append(want, env.Quote(table.Name)+": "+strings.Join(names, " "))
	}
	log := testutil.Value(os.ReadFile(asked))(t)
	golden.Equal(t, want, slices.Collect(strings.SplitSeq(strings.TrimSpace(string(log)), "\n")),
		"each table is asked about once, in order")
	model := &writer{}
	f := run(t, describe.Columns{Model: model, File: file}, env.DB, nil)
	if asked := model.take(); len(asked) > 0 || len(f.Descriptions) != columns {
		t.Errorf("%d descriptions, want %d; asked %q", len(f.Descriptions), columns, asked)
	}
	// Equal to the file of a process that nobody killed.
	undisturbed := filepath.Join(dir, "u.json")
	run(t, describe.Columns{Model: &writer{}, File: undisturbed}, env.DB, nil)
	a, errA := os.ReadFile(file)
	b, errB := os.ReadFile(undisturbed)
	if diff := cmp.Diff(string(b), string(a)); diff != "" || errA != nil || errB != nil {
		t.Errorf("%v %v (-undisturbed +killed):\n%s", errA, errB, diff)
	}
}
