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

	"github.com/texttosql/texttosql/examples/internal/cli"
	"github.com/texttosql/texttosql/llm"
)

//go:generate sh -c "go run ./generate > shop.sql"

//go:embed shop.sql
var script string

//go:embed replies.json
var replies []byte

// Write makes the shop's database file at path. The file must not exist.
func Write(path string) error {
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("shop: %s exists already", path)
	}
	db, err := sql.Open("sqlite3", "file:"+url.PathEscape(path)) // a name may have "?" or "%" in it
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(script)
	return err
}

// Open opens the database at path for reading, or, if path is "", the shop's, which
// it makes in a folder of its own and close removes.
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

// entry is one question and what a model might say to it.
type entry struct {
	Question string   `json:"question"`
	Generate []string `json:"generate"` // by draw
	Repair   []string `json:"repair"`   // by draw of the failed candidate
	Judge    []string `json:"judge"`    // in each of the two orders
}

func entries() []entry {
	var all []entry
	if err := json.Unmarshal(replies, &all); err != nil {
		panic("shop: replies.json: " + err.Error()) // embedded: a fault of ours, found by the first test
	}
	return all
}

// Questions are the questions that Scripted knows.
func Questions() []string {
	var questions []string
	for _, e := range entries() {
		questions = append(questions, e.Question)
	}
	return questions
}

// Scripted answers the listed questions from the replies kept beside this file.
// No model is called: the replies show what a vote, the guard and a repair do.
func Scripted() llm.Model {
	all := entries()
	return llm.Named("scripted", llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if err := ctx.Err(); err != nil {
			return llm.Response{}, err
		}
		i := slices.IndexFunc(all, func(e entry) bool {
			return slices.ContainsFunc(req.Messages, func(m llm.Message) bool {
				return m.Role == llm.User && strings.Contains(m.Text, e.Question)
			})
		})
		if i < 0 {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "the question is not among the scripted ones"}
		}
		script := map[string][]string{"generate": all[i].Generate, "repair": all[i].Repair, "judge": all[i].Judge}[req.Purpose]
		if len(script) == 0 {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "no scripted reply to a request for " + req.Purpose}
		}
		return llm.Response{Text: script[req.Draw%len(script)], StopReason: llm.StopEnd}, nil
	}))
}
