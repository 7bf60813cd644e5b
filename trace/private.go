package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Private is a set of kinds of private values. The zero set is none.
type Private uint8

// The kinds of private values, to be combined with |.
const (
	PrivateSQL     Private = 1 << iota // statements, with their literals
	PrivatePrompts                     // what was sent to a model
	PrivateReplies                     // what a model said
	PrivateRows                        // rows, cells and stored values of any form

	privateAll = PrivateSQL | PrivatePrompts | PrivateReplies | PrivateRows
)

// SQL is a statement as an attribute's value. The tree holds it; JSON and pages
// show it only when asked for.
type SQL string

// Prompt is text for a model as an attribute's value, held only when asked for.
type Prompt string

// Reply is a model's text as an attribute's value, held only when asked for.
type Reply string

// Rows is content of the database as an attribute's value: rows, cells, sampled
// values, in any form. It is held only when asked for.
type Rows string

// Withheld stands for a private value that is not held or not shown.
type Withheld struct {
	Kind  Private // exactly one kind
	Bytes int     // length of the value
	// Sum is the first 16 hexadecimal digits of the SHA-256 of SQL and prompts:
	// equal texts show as equal. Rows and replies have none, because a short
	// value could be found from it by trying.
	Sum string
}

// String says what is left out, as a person would read it.
func (w Withheld) String() string {
	text := fmt.Sprintf("%s not shown (%d bytes", kindName(w.Kind), w.Bytes)
	if w.Sum != "" {
		text += ", sha256 " + w.Sum
	}
	return text + ")"
}

// kindOf returns the kind of a private value; 0 for any other.
func kindOf(v any) Private {
	switch v := v.(type) {
	case SQL:
		return PrivateSQL
	case Prompt:
		return PrivatePrompts
	case Reply:
		return PrivateReplies
	case Rows:
		return PrivateRows
	case Withheld:
		return v.Kind
	}
	return 0
}

// privateText returns the text of a private value.
func privateText(v any) string {
	switch v := v.(type) {
	case SQL:
		return string(v)
	case Prompt:
		return string(v)
	case Reply:
		return string(v)
	case Rows:
		return string(v)
	}
	return ""
}

// privateValue makes a private value of its kind and text.
func privateValue(kind Private, text string) any {
	switch kind {
	case PrivateSQL:
		return SQL(text)
	case PrivatePrompts:
		return Prompt(text)
	case PrivateReplies:
		return Reply(text)
	default:
		return Rows(text)
	}
}

// withhold returns what stands for the private value v.
func withhold(v any) Withheld {
	w := Withheld{Kind: kindOf(v), Bytes: len(privateText(v))}
	if w.Kind == PrivateSQL || w.Kind == PrivatePrompts {
		sum := sha256.Sum256([]byte(privateText(v)))
		w.Sum = hex.EncodeToString(sum[:8])
	}
	return w
}

// shown returns v, or what stands for it if it is of a kind that show does not
// have.
func shown(v any, show Private) any {
	if _, already := v.(Withheld); already {
		return v
	}
	if kind := kindOf(v); kind != 0 && show&kind == 0 {
		return withhold(v)
	}
	return v
}

// kindName is the name of one kind in JSON and for a person.
func kindName(kind Private) string {
	switch kind {
	case PrivateSQL:
		return "sql"
	case PrivatePrompts:
		return "prompt"
	case PrivateReplies:
		return "reply"
	default:
		return "rows"
	}
}

// kindNamed is the inverse of kindName; 0 for no kind.
func kindNamed(name string) Private {
	for _, kind := range [...]Private{PrivateSQL, PrivatePrompts, PrivateReplies, PrivateRows} {
		if kindName(kind) == name {
			return kind
		}
	}
	return 0
}
