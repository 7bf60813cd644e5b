package trino

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// AccessRules returns rules for Trino's file-based system access control, as indented JSON. Under these rules user may
// read what p allows of s, and nothing else. The rules allow SELECT on each allowed table, and the session property
// that the guard sets. They deny the denied columns, the tables of the server, procedures, impersonation and all other
// session properties.
//
// s is the complete schema, read by a user who may read everything, under the policy {Reveal: {"*"}}. catalog is the
// catalog of its tables whose schema does not name one. If p denies columns, a view is left out unless AllowTables
// names it, because a view reads with the rights of its owner. The rules do not include tables that are created later.
//
// A server has one such file for all users: a user without a rule in it may do nothing. So put these rules before the
// rules of other users, section by section. See "File-based access control" in Trino's documentation.
//
// The error is an [*exec.PolicyError] if p names something that s does not have.
func AccessRules(p exec.Policy, user, catalog string, s *schema.Schema) ([]byte, error) {
	if user == "" || catalog == "" {
		return nil, errors.New("trino: AccessRules: the user or the catalog is empty")
	}
	p.Reveal = []string{"*"} // the server holds back what p names
	type rule map[string]any
	by := func(r rule) rule { r["user"] = regexp.QuoteMeta(user); return r }
	exactly := func(name string) string { return regexp.QuoteMeta(strings.ToLower(name)) }
	catalogs := []string{exactly(catalog), "system"}
	var known guard.Catalog
	var tables []rule
	for i := range s.Tables {
		t := &s.Tables[i]
		named := s.SchemaOf(t)
		in, place := catalog, named
		if before, after, ok := strings.Cut(place, "."); ok {
			in, place = before, after
		}
		denied := []rule{}
		for _, c := range t.Columns {
			if !p.AllowsColumn(named, t.Name, c.Name) {
				denied = append(denied, rule{"name": strings.ToLower(c.Name), "allow": false})
			}
		}
		known.Relations = append(known.Relations, guard.RelationOf(named, t))
		if !p.AllowsTable(named, t.Name) || len(p.DenyColumns) > 0 && len(p.AllowTables) == 0 && t.Kind == "view" {
			continue
		}
		if name := exactly(in); !slices.Contains(catalogs, name) {
			catalogs = append(catalogs, name)
		}
		of := by(rule{"catalog": exactly(in), "schema": exactly(place), "table": exactly(t.Name),
			"privileges": []string{"SELECT"}})
		if len(denied) > 0 {
			of["columns"] = denied
		}
		tables = append(tables, of)
	}
	if err := known.Missing(p); err != nil {
		return nil, err
	}
	functions := []rule{}
	for _, name := range p.AllowFunctions {
		functions = append(functions, by(rule{"function": exactly(name), "privileges": []string{"EXECUTE"}}))
	}
	nothing := []string{}
	return json.MarshalIndent(map[string][]rule{
		"catalogs": {by(rule{"catalog": strings.Join(catalogs, "|"), "allow": "read-only"}), by(rule{"allow": "none"})},
		"schemas":  {by(rule{"owner": false})},
		"tables": append(tables,
			by(rule{"catalog": "system", "schema": "metadata", "table": "table_comments", "privileges": []string{"SELECT"}}),
			by(rule{"privileges": nothing})),
		"functions":                  append(functions, by(rule{"privileges": nothing})),
		"procedures":                 {by(rule{"privileges": nothing})},
		"system_session_properties":  {by(rule{"property": runTime, "allow": true}), by(rule{"allow": false})},
		"catalog_session_properties": {by(rule{"allow": false})},
		"queries":                    {by(rule{"allow": []string{"execute"}})},
		"impersonation":              {{"original_user": regexp.QuoteMeta(user), "new_user": ".*", "allow": false}},
		"system_information":         {by(rule{"allow": nothing})},
	}, "", "  ")
}
