package texttosql_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	command "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms/openai"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/langchain"
)

func folded(s string) string { return strings.Join(strings.Fields(s), " ") }

var ctx = context.Background()

// TestFirstBlockBuilds builds the Go block of the README as it stands there, in a main with nothing but imports.
func TestFirstBlockBuilds(t *testing.T) {
	readme := need.Value(os.ReadFile("README.md"))(t)
	_, block, _ := strings.Cut(string(readme), "```go\n")
	block, _, _ = strings.Cut(block, "```")
	if n := strings.Count(block, "\n"); n > 12 {
		t.Errorf("the block has %d lines, want twelve at most:\n%s", n, block)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	const imports = `package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"

	_ "github.com/mattn/go-sqlite3"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/llm/langchain"
)

func main() {
`
	need.OK(t, os.WriteFile(file, []byte(imports+block+"}\n"), 0o600))
	if out, err := command.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s%s", err, out, block)
	}
}

func Example_sixLines() {
	db, _ := sql.Open("sqlite3", "file:shop.db?mode=ro")
	client, _ := openai.New(openai.WithHTTPClient(langchain.HTTPClient(nil)))
	engine, _ := texttosql.New(db, langchain.Model(client))
	answer, _ := engine.Ask(context.Background(), "Which customers in the USA never ordered?")
	fmt.Println(answer.SQL, answer.Confidence)
	answer.Rows.WriteTable(os.Stdout)
}

func Example_firstBlock() {
	db, derr := sql.Open("sqlite3", "file:shop.db?mode=ro")
	client, cerr := openai.New(openai.WithHTTPClient(langchain.HTTPClient(nil)))
	engine, err := texttosql.New(db, langchain.Model(client))
	if err := errors.Join(derr, cerr, err); err != nil {
		log.Fatal(err)
	}
	answer, err := engine.Ask(context.Background(), "Which customers in the USA never ordered?")
	if err != nil {
		log.Fatal(texttosql.Failure(err).Message) // what a person reads; it has an HTTP status too
	}
	fmt.Println(answer.SQL, answer.Confidence, answer.Rows.Rows)
}

func Example_ownModel() {
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		body, _ := json.Marshal(req.Messages)
		call, _ := http.NewRequestWithContext(ctx, "POST", "http://localhost:8080/complete", bytes.NewReader(body))
		reply, err := http.DefaultClient.Do(call)
		if err != nil {
			return llm.Response{}, &llm.Error{Class: llm.ClassOverloaded, Err: err}
		}
		defer reply.Body.Close()
		if reply.StatusCode != http.StatusOK {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Status: reply.StatusCode}
		}
		var out llm.Response
		err = json.NewDecoder(reply.Body).Decode(&out)
		return out, err
	})
	_ = model
}
