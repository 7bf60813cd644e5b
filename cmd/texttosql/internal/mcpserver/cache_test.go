package mcpserver_test

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/mcpserver"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
)

// TestCachedBy: where there is a scope, no result of any method may be given to another client by a cache.
func TestCachedBy(t *testing.T) {
	for _, scoped := range []bool{false, true} {
		scope, rules := exec.Scope{Key: "acme"}, exec.Policy{Shared: []string{"singer"}}
		s := serverOf(t, newModel(), func(c *mcpserver.Config) {
			d := &c.Databases[0]
			d.Confirmed = &memory.VerifiedAnswers{}
			if scoped {
				d.Engine = testutil.Value(d.Engine.For(texttosql.WithScope(scope), texttosql.WithPolicy(rules)))(t)
				d.DB = testutil.Value(d.DB.For(&scope, &rules))(t)
			}
		})
		want := map[bool]string{false: "public", true: "private"}[scoped]
		cs := connect(t, s, nil, "")
		got := map[string]mcp.Cacheable{
			"tools/list":               testutil.Value(cs.ListTools(t.Context(), nil))(t).Cacheable,
			"resources/list":           testutil.Value(cs.ListResources(t.Context(), nil))(t).Cacheable,
			"resources/templates/list": testutil.Value(cs.ListResourceTemplates(t.Context(), nil))(t).Cacheable,
			"prompts/list":             testutil.Value(cs.ListPrompts(t.Context(), nil))(t).Cacheable,
		}
		for _, uri := range []string{"texttosql://schema", "texttosql://schema/singer", "texttosql://confirmed"} {
			got["resources/read "+uri] = testutil.Value(cs.ReadResource(t.Context(),
				&mcp.ReadResourceParams{URI: uri}))(t).Cacheable
		}
		for method, c := range got {
			if c.CacheScope != want {
				t.Errorf("scoped %v: %s: %q, want %q", scoped, method, c.CacheScope, want)
			}
		}
	}
}
