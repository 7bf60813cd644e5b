package setup

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/door"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
)

// Serving are the flags that say who may come in to a server on HTTP.
type Serving struct {
	TokenFile string   `placeholder:"FILE" help:"The token that clients must show; default: TEXTTOSQL_TOKEN. An address other than loopback needs one."`
	Host      []string `placeholder:"NAME" help:"A name by which the server is reached, beside localhost and its address; again for several."`
	Scopes    string   `placeholder:"FILE" help:"Whose rows a client reads, by the header in which a proxy names the user, or by token; see docs/safety.md."`
	AccessLog bool     `help:"Write a line a request to standard error."`
}

// Door returns the door that the flags make. No flag has the token itself, because every list of processes would show it.
func (s Serving) Door(getenv func(string) string) (door.Door, error) {
	d := door.Door{Token: getenv("TEXTTOSQL_TOKEN"), Hosts: s.Host}
	if s.TokenFile == "" {
		return d, nil
	}
	text, err := os.ReadFile(s.TokenFile)
	if d.Token = strings.TrimSpace(string(text)); err == nil && d.Token == "" {
		err = errors.New("the file is empty")
	}
	if err != nil {
		return d, &UsageError{fmt.Errorf("--token-file %s: %w", s.TokenFile, cli.PathlessError(err))}
	}
	return d, nil
}

// ByScope makes a handler that has one of its own for each scope of --scopes; without the flag it is that of no scope. made
// makes that of a scope behind the door d, for the user of a Header; "" for a token. Who shows no user or token of the file is refused.
func (s Serving) ByScope(d door.Door, made func(user string, s *exec.Scope, d door.Door) (http.Handler, error)) (http.Handler, error) {
	scopes, err := read("scopes", s.Scopes, readScopes)
	if err != nil {
		return nil, err
	}
	if scopes == nil {
		return made("", nil, d)
	}
	if scopes.Header != "" && d.Token == "" {
		return nil, &UsageError{errors.New("--scopes with a Header needs a token that the proxy shows: anybody can send a header")}
	}
	type hash = [sha256.Size]byte // so that the time of a look-up tells nothing of a token
	handlers := map[hash]http.Handler{}
	for name, scope := range scopes.Of {
		behind, user := d, name
		if scopes.Header == "" {
			user = ""
			if behind.Token = name; len(name) < 16 {
				return nil, &UsageError{errors.New("--scopes: a token is shorter than 16 characters: make one with openssl rand -hex 32")}
			}
		}
		if handlers[sha256.Sum256([]byte(name))], err = made(user, scope, behind); err != nil {
			return nil, err
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if scopes.Header != "" {
			shown = ""
			if values := r.Header.Values(scopes.Header); len(values) == 1 {
				shown = values[0]
			}
		}
		h, ok := handlers[sha256.Sum256([]byte(shown))]
		if !ok || shown == "" {
			http.Error(w, "it is not known whose rows you may read", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	}), nil
}

// As returns the engine as a scope has it; nil: as it is. With a scope it needs rules, and with rules a scope.
func As(e *texttosql.Engine, scope *exec.Scope) (*texttosql.Engine, error) {
	if scope == nil {
		return e.For()
	}
	return e.For(texttosql.WithScope(*scope))
}

// BudgetOf reads the budget of a flag's file; "" is none.
func BudgetOf(flag, path string) (llm.Budget, error) { return read(flag, path, ReadBudget) }
