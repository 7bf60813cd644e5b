// Package guard (API is not stable) has the code that the guards of all engines share. It finds the names in a
// statement and the relations of a database, works out how a policy affects both, and reads samples of tables.
//
// It runs no SQL and does not guard a connection by itself. An implementation of exec.Conn parses a statement with the
// parser of its engine and stores the names as [Names]. A [Catalog] decides whether they may be read:
//
//	users := guard.NewRelation("public", "users", []string{"id", "name", "password"})
//	c := &guard.Catalog{Text: sqltext.PostgreSQL(), Relations: []*guard.Relation{users}}
//	c.Apply(guard.Policy{DenyColumns: []string{"users.password"}})
//	err := c.Permit(&guard.Names{
//		Sources: []guard.Source{{Alias: "users", Relation: users}},
//		Refs:    []guard.Ref{{Path: []string{"password"}}},
//	}) // users.password may not be read
//
// Policies are defined here; exec has an alias. Refusals are errors of exec.
package guard
