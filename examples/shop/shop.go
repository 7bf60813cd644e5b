// Package shop is what the example programs ask about: a small shop, and scripted replies for programs without a model.
package shop

import (
	"database/sql"

	"github.com/texttosql/texttosql/internal/shop"
)

// Script holds questions and the replies that a model might give to them. Data and replies are made up.
type Script = shop.Script

// Listed returns the script of the listed questions about the shop.
func Listed() Script { return shop.Listed() }

// ReadScript reads an embedded script, a JSON list of {"question": …, "replies": {PURPOSE: […]}}. It panics if that is broken.
func ReadScript(data []byte) Script { return shop.ReadScript(data) }

// Open opens the SQLite file at path for reading; "" makes the shop in a folder of its own, which close removes.
func Open(path string) (db *sql.DB, close func(), err error) { return shop.Open(path) }

// Write makes the shop's database file at path, where no file may be.
func Write(path string) error { return shop.Write(path) }
