package shop

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/llm"
)

//go:generate sh -c "go run ./generate > shop.sql"

//go:embed shop.sql
var script string

//go:embed replies.json
var replies []byte

// SQL returns the statements that make the shop, for SQLite.
func SQL() string { return script }

// Write makes the shop's database file at path. The file must not exist.
func Write(path string) error {
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("shop: %s exists already", path)
	}
	db, err := sql.Open("sqlite3", "file:"+url.PathEscape(path)) // the name may contain "?" or "%"
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(script)
	return err
}

// Open opens the database at path for reading. If path is "", it makes the shop's database in a folder of its own, which
// close removes.
func Open(path string) (db *sql.DB, close func(), err error) {
	if path != "" {
		if db, err = cli.OpenReadOnly(path); err != nil {
			return nil, nil, fmt.Errorf("database %s: %w", path, err)
		}
		return db, func() { db.Close() }, nil
	}
	dir, err := os.MkdirTemp("", "texttosql-shop-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { os.RemoveAll(dir) }
	path = filepath.Join(dir, "shop.sqlite")
	if err = Write(path); err == nil {
		db, err = cli.OpenReadOnly(path)
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return db, func() { db.Close(); remove() }, nil
}

// Script holds the replies that a model might give to some questions. It stands for a model where none is configured.
type Script []Exchange

// Exchange is one question with its replies.
type Exchange struct {
	Question string              `json:"question"`
	Replies  map[string][]string `json:"replies"` // by the purpose of the request, one for each sample
}

// Listed returns the script of the listed questions about the shop. Its replies show what a vote, the guard, a repair and
// the phases of MAKER do.
func Listed() Script { return ReadScript(replies) }

// ReadScript reads an embedded script. It panics if the script is broken, which the first test finds.
func ReadScript(data []byte) (s Script) {
	if err := json.Unmarshal(data, &s); err != nil {
		panic("shop: script: " + err.Error())
	}
	return s
}

// Questions returns the questions of the script.
func (s Script) Questions() []string {
	var questions []string
	for _, e := range s {
		questions = append(questions, e.Question)
	}
	return questions
}

// Model returns a model that gives the scripted replies. Samples beyond the replies start again with the first one.
func (s Script) Model() llm.Model {
	return llm.Named("scripted", llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if err := ctx.Err(); err != nil {
			return llm.Response{}, err
		}
		for _, e := range s {
			if !asks(req, e.Question) {
				continue
			}
			replies := e.Replies[req.Purpose]
			if len(replies) == 0 {
				return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "no scripted reply to a request for " + req.Purpose}
			}
			return llm.Response{Text: replies[req.Sample%len(replies)], StopReason: llm.StopEnd}, nil
		}
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "the question is not among the scripted ones"}
	}))
}

func asks(req llm.Request, question string) bool {
	return slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return m.Role == llm.User && strings.Contains(m.Text, question) })
}
