// Package guard (API is not stable) has the parts that the guards of all engines share: what a statement names, what a
// database has, what a policy makes of both, and samples of tables.
//
// It runs no SQL and is no guard by itself. An implementation of exec.Conn reads a statement with the parser of its
// engine and writes down what it found as [Names]. A [Catalog] says whether that may be read:
//
//	users := guard.NewRelation("public", "users", []string{"id", "name", "password"})
//	c := &guard.Catalog{Text: sqltext.PostgreSQL(), Relations: []*guard.Relation{users}}
//	c.Apply(guard.Policy{DenyColumns: []string{"users.password"}})
//	err := c.Permit(&guard.Names{
//		Sources: []guard.Source{{Alias: "users", Relation: users}},
//		Refs:    []guard.Ref{{Path: []string{"password"}}},
//	}) // users.password may not be read
//
// Refusals and policies are here too, and have their names in exec as well.
package guard
