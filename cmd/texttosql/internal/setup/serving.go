package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"net/http"
	"os"
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
)

// Serving are the flags that say who may come in to a server on HTTP.
type Serving struct {
	TokenFile string   `placeholder:"FILE" help:"The token that clients must show; default: TEXTTOSQL_TOKEN. An address other than loopback needs one."`
	Host      []string `placeholder:"NAME" help:"A name by which the server is reached, beside localhost and its address; again for several."`
	Scopes    string   `placeholder:"FILE" help:"Whose rows a client reads, by the header in which a proxy names the user, or by token; see cmd/texttosql/SERVE.md."`
	AccessLog bool     `help:"Write a line a request to standard error."`
}

// Door returns the door that the flags make. No flag has the token itself, because every list of processes would show
// it.
func (s Serving) Door(getenv func(string) string) (httpserver.Door, error) {
	d := httpserver.Door{Token: getenv("TEXTTOSQL_TOKEN"), Hosts: s.Host}
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

// ByScope makes a handler that has one of its own for each scope of --scopes; without the flag it is that of no scope.
// made makes that of a scope behind the door d, for the user of a Header; "" for a token. Who shows no user or token of
// the file is refused.
func (s Serving) ByScope(d httpserver.Door, made func(user string, s *exec.Scope, d httpserver.Door) (http.Handler,
	error)) (http.Handler, error) {
	scopes, err := read("scopes", s.Scopes, readScopes)
	if err != nil {
		return nil, err
	}
	if scopes == nil {
		return made("", nil, d)
	}
	if scopes.Header != "" && d.Token == "" {
		return nil, &UsageError{errors.New("--scopes with a Header needs a token that the proxy shows: " +
			"anybody can send a header")}
	}
	handlers := map[string]http.Handler{} // by SHA-256, so that the time of a look-up tells nothing of a token
	for name, scope := range scopes.Of {
		behind, user, sum := d, name, sha256Of(name)
		if scopes.Header == "" {
			user = ""
			if sum, err = tokenSum(name); err != nil {
				return nil, err
			}
			behind.Token, behind.Sum = "", sum
		}
		h, err := made(user, scope, behind)
		if err != nil {
			return nil, err
		}
		whose := hex.EncodeToString(sha256Of(scope.Key)[:8])
		handlers[string(sum)] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			httpserver.Note(r.Context(), "scope", whose)
			h.ServeHTTP(w, r)
		})
	}
	byUser := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if scopes.Header != "" {
			shown = ""
			if values := r.Header.Values(scopes.Header); len(values) == 1 {
				shown = values[0]
			}
		}
		h, ok := handlers[string(sha256Of(shown))]
		switch {
		case ok && shown != "":
			h.ServeHTTP(w, r)
		case scopes.Header == "":
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the server needs a token that it knows: show one in Authorization: Bearer TOKEN",
				http.StatusUnauthorized)
		default:
			unknown(w, r, shown)
		}
	})
	if scopes.Header == "" {
		return byUser, nil
	}
	return d.Guard(byUser), nil // who does not show the token learns of no user
}

// unknown refuses a user whom the proxy knows and the file does not: a browser with a page that says what to do.
func unknown(w http.ResponseWriter, r *http.Request, user string) {
	const told = "it is not known whose rows you may read"
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Error(w, told, http.StatusForbidden)
		return
	}
	who := "The proxy in front of this page did not say who you are."
	if user != "" {
		who = "You are signed in as " + html.EscapeString(user) + "."
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; "+
		"frame-ancestors 'none'")
	w.WriteHeader(http.StatusForbidden)
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "+
		"content=\"width=device-width\">"+
		"<title>texttosql</title>\n<main><h1>You may not read this database yet</h1>\n<p>%s</p>\n"+
		"<p>It is not known whose rows you may read. Ask the person who runs this page to add you to the file of "+
		"--scopes.</p></main></html>\n", who)
}

func sha256Of(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// hashed stands before the SHA-256 of a token in a file that is not to have the token itself.
const hashed = "sha256:"

// tokenSum is the SHA-256 of a token as the file of --scopes has it: the token, or "sha256:" and its hash in
// hexadecimal digits.
func tokenSum(text string) ([]byte, error) {
	sum, err := hex.DecodeString(strings.TrimPrefix(text, hashed))
	switch {
	case !strings.HasPrefix(text, hashed) && len(text) >= 16:
		return sha256Of(text), nil
	case !strings.HasPrefix(text, hashed):
		return nil, &UsageError{errors.New("--scopes: a token is shorter than 16 characters: " +
			"make one with openssl rand -hex 32")}
	case err != nil || len(sum) != sha256.Size:
		return nil, &UsageError{errors.New("--scopes: behind sha256: want the 64 hexadecimal digits of a token's hash: " +
			"printf %s TOKEN | sha256sum")}
	}
	return sum, nil
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
