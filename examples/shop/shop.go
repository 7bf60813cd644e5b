// Package shop is what the example programs ask about: a small shop, and scripted replies for programs without a model.
//
// The replies say nothing about the quality of a model. Data and replies are made up.
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

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/llm"
)

//go:embed shop.sql
var script string

//go:embed replies.json
var replies []byte

// Write makes the shop's database file at path, where no file may be, and runs more statements on it.
func Write(path string, more ...string) error {
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("shop: %s exists already", path)
	}
	db, err := sql.Open("sqlite3", "file:"+url.PathEscape(path)) // the name may contain "?" or "%"
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(script + strings.Join(more, ";"))
	return err
}

// Open opens the SQLite file at path for reading; "" makes the shop in a folder of its own, with more statements, which
// close removes.
func Open(path string, more ...string) (db *sql.DB, close func(), err error) {
	remove := func() {}
	if path == "" {
		dir, err := os.MkdirTemp("", "texttosql-shop-")
		if err != nil {
			return nil, nil, err
		}
		remove = func() { os.RemoveAll(dir) }
		path = filepath.Join(dir, "shop.sqlite")
		if err := Write(path, more...); err != nil {
			remove()
			return nil, nil, err
		}
	}
	if info, err := os.Stat(path); err != nil { // SQLite would say that it is unable to open it
		return nil, nil, err
	} else if info.IsDir() {
		return nil, nil, fmt.Errorf("%s is a folder", path)
	}
	if db, err = sql.Open("sqlite3", "file:"+url.PathEscape(path)+"?mode=ro"); err != nil {
		remove()
		return nil, nil, err
	}
	return db, func() { db.Close(); remove() }, nil
}

// Script holds questions, and the replies that a model might give to each.
type Script []struct {
	Question string              `json:"question"`
	Replies  map[string][]string `json:"replies"` // by the purpose of the request, one for each sample
}

// Listed returns the script of the listed questions about the shop. Its replies show what a vote, the guard, a repair
// and the phases of MAKER do.
func Listed() Script { return ReadScript(replies) }

// ReadScript reads an embedded script. It panics if the script is broken, which the first test finds.
func ReadScript(data []byte) (s Script) {
	if err := json.Unmarshal(data, &s); err != nil {
		panic("shop: script: " + err.Error())
	}
	return s
}

// Questions returns the questions of the script.
func (s Script) Questions() (all []string) {
	for _, e := range s {
		all = append(all, e.Question)
	}
	return all
}

// Model returns a model that gives the scripted replies. Samples beyond the replies start again with the first one.
func (s Script) Model() llm.Model {
	return llm.Named("scripted", llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		for _, e := range s {
			replies := e.Replies[req.Purpose]
			if len(replies) > 0 && slices.ContainsFunc(req.Messages, func(m llm.Message) bool {
				return m.Role == llm.User && strings.Contains(m.Text, e.Question)
			}) {
				return llm.Response{Text: replies[req.Sample%len(replies)], StopReason: llm.StopEnd}, ctx.Err()
			}
		}
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "no scripted reply to this request for " +
			req.Purpose}
	}))
}
