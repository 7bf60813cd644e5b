package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/golden"
)

// TestOutput is the golden output of the program.
func TestOutput(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), nil, &out); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "output.txt", out.String())
}

// connect returns a client's session with the server of an engine.
func connect(t *testing.T, engine *texttosql.Engine, scopeOf scopeFunc) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	server, err := newServer(engine, scopeOf).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// call calls the tool. The error is the text of a rejected call.
func call(ctx context.Context, session *mcp.ClientSession, text string) (string, error) {
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "export_csv", Arguments: statement{SQL: text}})
	if err != nil {
		return "", err
	}
	content := res.Content[0].(*mcp.TextContent).Text
	if res.IsError {
		return "", errors.New(content)
	}
	return content, nil
}

// TestTool: a user reads the own rows, and an agent gets a reason that it can use.
func TestTool(t *testing.T) {
	pool, closePool, err := shop.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer closePool()
	engine, err := texttosql.New(pool, texttosql.NoModel, texttosql.WithPolicy(policy), texttosql.WithLimits(limits))
	if err != nil {
		t.Fatal(err)
	}
	country := "Portugal"
	session := connect(t, engine, func(*mcp.CallToolRequest) (exec.Scope, error) {
		if country == "" {
			return exec.Scope{}, errors.New("sign in first")
		}
		return texttosql.NewScope(map[string]any{"country": country}), nil
	})

	for _, tt := range []struct{ why, country, text, want string }{
		{
			"rows of the user", "Portugal", "SELECT name FROM customers ORDER BY name",
			`{"csv":"name\nKeiko Quiroga\nViktor Novak\n","truncated":false}`,
		},
		{"rows of another user", "Japan", "SELECT name FROM customers", `{"csv":"name\nLuca Hughes\n","truncated":false}`},
		{"the limit on rows", "Japan", "SELECT id FROM products ORDER BY id", `{"csv":"id\n1\n2\n3\n4\n","truncated":true}`},
		{"a write", "Japan", "DELETE FROM customers", "This only reads."},
		{"a denied column", "Japan", "SELECT joined FROM customers", "joined: no such column, or you may not read it."},
		{"nobody signed in", "", "SELECT 1", "sign in first"},
	} {
		country = tt.country
		got, err := call(t.Context(), session, tt.text)
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}

// TestHostileStatements runs the payload suite against the tool, and compares its count with docs/guard.md.
func TestHostileStatements(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.db")
	owner, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	_, err = owner.Exec(`
CREATE TABLE t(a INTEGER, b TEXT);
CREATE TABLE users(id INTEGER, name TEXT, password TEXT);
INSERT INTO t VALUES (1,'alpha'),(2,'beta;gamma'),(3,NULL),(4,'it''s'),(5,'北京');
INSERT INTO users VALUES (1,'ann','s3cret-1'),(2,'bob','s3cret-2'),(3,'cyd','s3cret-3');`)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := texttosql.New(owner, texttosql.NoModel,
		texttosql.WithPolicy(exec.Policy{Rows: map[string]string{"t": "a > :least", "users": "id > :least"}}),
		texttosql.WithLimits(exec.Limits{Answer: exec.Bounds{Timeout: time.Second}}))
	if err != nil {
		t.Fatal(err)
	}
	session := connect(t, engine, func(*mcp.CallToolRequest) (exec.Scope, error) {
		return texttosql.NewScope(map[string]any{"least": 0}), nil
	})

	run := func(ctx context.Context, text string) error {
		_, err := call(ctx, session, text)
		return err
	}
	contents := func(context.Context) (string, error) {
		data, err := os.ReadFile(file)
		return string(data), err
	}
	executed, all := exectest.CheckTool(t, "sqlite", run, contents)

	page, err := os.ReadFile("../../docs/guard.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("hostile statements executed: %d of %d", executed, all); !strings.Contains(string(page), want) {
		t.Errorf("docs/guard.md has no %q", want)
	}
}
