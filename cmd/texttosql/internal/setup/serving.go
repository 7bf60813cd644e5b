package setup

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/door"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/llm"
)

// Serving are the flags that say who may come in to a server on HTTP.
type Serving struct {
	TokenFile string   `placeholder:"FILE" help:"The token that clients must show; default: TEXTTOSQL_TOKEN. An address other than loopback needs one."`
	Host      []string `placeholder:"NAME" help:"A name by which the server is reached, beside localhost and its address; again for several."`
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

// BudgetOf reads the budget of a flag's file; "" is none.
func BudgetOf(flag, path string) (llm.Budget, error) { return read(flag, path, ReadBudget) }
