package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"

	"github.com/texttosql/texttosql/internal/redact"
)

// Sensitivity is a set of kinds of private values. The zero set is empty.
type Sensitivity uint8

// The kinds of private values, to be combined with |.
const (
	PrivateSQL     Sensitivity = 1 << iota // statements, with their literals
	PrivatePrompts                         // text that is sent to a model
	PrivateReplies                         // text that a model returned
	PrivateRows                            // content of the database: rows, cells and stored values in any form
	PrivateScopes                          // the user or tenant of the question, often a name or an address

	privateAll = PrivateSQL | PrivatePrompts | PrivateReplies | PrivateRows | PrivateScopes
)

// kindNames are the names of the kinds in JSON and for a person, in the order of the constants.
var kindNames = []string{"sql", "prompt", "reply", "rows", "scope"}

func (k Sensitivity) name() string {
	return kindNames[min(bits.TrailingZeros8(uint8(k)), len(kindNames)-1)]
}

// kindNamed returns the kind of a name; 0 if there is none.
func kindNamed(name string) Sensitivity {
	if i := slices.Index(kindNames, name); i >= 0 {
		return 1 << i
	}
	return 0
}

// Secret is a private value of an attribute. The tree stores it if it is SQL or [Tracer.Keep] has its kind. JSON,
// pages and logs show it only on request. Otherwise the secret is withheld.
type Secret struct {
	Kind     Sensitivity // exactly one kind
	Text     string      // the value; "" if it is withheld
	Withheld bool        // Bytes and Sum replace the text

	Bytes int // length of a withheld text
	// Sum is the first 16 hexadecimal digits of the SHA-256 of a withheld statement, prompt or scope, so that equal
	// texts can be recognised. Rows and replies have no sum, because a short text could be found from it by trying.
	Sum string
}

// Secret returns text as a private value of kind k. For a statement or a name of the schema use
// PrivateSQL.Secret(text).
func (k Sensitivity) Secret(text string) Secret { return Secret{Kind: k, Text: text} }

// String returns the text, or a description of a withheld text.
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

// Shown returns s, and withholds its text unless show has its kind.
func (s Secret) Shown(show Sensitivity) Secret {
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
func shown(v any, show Sensitivity) any {
	if s, ok := v.(Secret); ok {
		return s.Shown(show)
	}
	return v
}

// RedactCredentials replaces everything in text that looks like a credential by "***". Credentials are parameters such
// as key=, token= and password=, Authorization and Cookie headers, and the password of a URL or DSN. Well-known forms
// of provider keys and tokens are credentials, too. It cannot find every credential, so do not pass any in the first
// place.
func RedactCredentials(text string) string { return redact.Credentials(text) }
