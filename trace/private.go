package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"
)

// Private is a set of kinds of private values. The zero set is empty.
type Private uint8

// The kinds of private values, to be combined with |.
const (
	PrivateSQL     Private = 1 << iota // statements, with their literals
	PrivatePrompts                     // text that is sent to a model
	PrivateReplies                     // text of a model
	PrivateRows                        // content of the database: rows, cells and stored values in any form
	PrivateScopes                      // on whose behalf it was asked, which is often a name or an address

	privateAll = PrivateSQL | PrivatePrompts | PrivateReplies | PrivateRows | PrivateScopes
)

// kindNames are the names of the kinds in JSON and for a person, in the order of the constants.
var kindNames = []string{"sql", "prompt", "reply", "rows", "scope"}

func (k Private) name() string {
	return kindNames[min(bits.TrailingZeros8(uint8(k)), len(kindNames)-1)]
}

// kindNamed returns the kind of a name; 0 if there is none.
func kindNamed(name string) Private {
	if i := slices.Index(kindNames, name); i >= 0 {
		return 1 << i
	}
	return 0
}

// Secret is a private value of an attribute. The tree holds it if it is SQL or [Tracer.Keep] has its kind. JSON, pages
// and logs show it only when asked to. A secret that is not held or not shown is withheld.
type Secret struct {
	Kind     Private // exactly one kind
	Text     string  // the value; "" if it is withheld
	Withheld bool    // Bytes and Sum stand for the text

	Bytes int // length of a withheld text
	// Sum is the first 16 hexadecimal digits of the SHA-256 of withheld SQL, a withheld prompt or a scope, so that equal texts
	// show as equal. Rows and replies have no sum, because a short text could be found from it by trying.
	Sum string
}

// SQL makes a statement, or a name of the schema, the value of an attribute.
func SQL(text string) Secret { return Secret{Kind: PrivateSQL, Text: text} }

// String returns the text, or says what is left out.
func (s Secret) String() string {
	if !s.Withheld {
		return s.Text
	}
	text := fmt.Sprintf("%s not shown (%d bytes", s.Kind.name(), s.Bytes)
	if s.Sum != "" {
		text += ", sha256 " + s.Sum
	}
	return text + ")"
}

// Shown returns s, withheld unless show has its kind.
func (s Secret) Shown(show Private) Secret {
	if s.Withheld || show&s.Kind != 0 {
		return s
	}
	w := Secret{Kind: s.Kind, Withheld: true, Bytes: len(s.Text)}
	if s.Kind&(PrivateSQL|PrivatePrompts|PrivateScopes) != 0 {
		sum := sha256.Sum256([]byte(s.Text))
		w.Sum = hex.EncodeToString(sum[:8])
	}
	return w
}

// shown returns v, withheld if it is a secret of a kind that show does not have.
func shown(v any, show Private) any {
	if s, ok := v.(Secret); ok {
		return s.Shown(show)
	}
	return v
}
