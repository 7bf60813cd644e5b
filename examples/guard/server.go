package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/result"
)

// newServer returns a server whose tool writes the rows of a statement as CSV.
func newServer(engine *texttosql.Engine, scopeOf scopeFunc) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	tool := &mcp.Tool{Name: "export_csv", Description: "Writes the rows of one SELECT statement as CSV."}
	mcp.AddTool(server, tool, guarded(engine, scopeOf, exportCSV))
	return server
}

type export struct {
	CSV       string `json:"csv"`
	Truncated bool   `json:"truncated" jsonschema:"the statement has more rows"`
}

// exportCSV is the tool's own work.
func exportCSV(_ context.Context, rows *result.Table) (export, error) {
	var text strings.Builder
	err := rows.WriteCSV(&text)
	return export{CSV: text.String(), Truncated: rows.Truncated}, err
}

// statement is the argument of a tool.
type statement struct {
	SQL string `json:"sql" jsonschema:"one SELECT statement"`
}

// scopeFunc returns the scope of the user who calls, for example by Extra.TokenInfo.UserID of the request.
type scopeFunc func(*mcp.CallToolRequest) (exec.Scope, error)

// guarded is middleware for a tool: next gets the rows of the statement, and never the database.
func guarded[Out any](engine *texttosql.Engine, scopeOf scopeFunc,
	next func(context.Context, *result.Table) (Out, error)) mcp.ToolHandlerFor[statement, Out] {
	return func(ctx context.Context, call *mcp.CallToolRequest, in statement) (_ *mcp.CallToolResult, out Out, err error) {
		scope, err := scopeOf(call)
		if err != nil {
			return nil, out, err
		}
		rows, err := engine.Query(ctx, in.SQL, texttosql.WithScope(scope))
		if err != nil {
			return nil, out, forClient(err)
		}
		out, err = next(ctx, rows)
		return nil, out, err
	}
}

// forClient returns an error that an agent may read. The log has errors that may name the database's address.
func forClient(err error) error {
	report := failure.Of(err)
	switch report.Class {
	case failure.Refused, failure.Invalid, failure.Limit, failure.Busy:
		return errors.New(report.Message)
	}
	slog.Error("a statement failed", "error", err)
	return errors.New("the database cannot be reached now")
}
