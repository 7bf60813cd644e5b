package trino_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/schema"
)

func ExampleAccessRules() {
	s := &schema.Schema{Default: "shop", Tables: []schema.Table{
		{Schema: "shop", Name: "customers", Columns: []schema.Column{{Name: "id"}, {Name: "name"}, {Name: "password"}}},
		{Schema: "tpch.tiny", Name: "nation", Columns: []schema.Column{{Name: "name"}}},
	}}
	rules, err := trino.AccessRules(exec.Policy{DenyColumns: []string{"customers.password"}}, "reader", "hive", s)
	if err != nil {
		log.Fatal(err)
	}
	var file struct {
		Catalogs []struct{ User, Catalog, Allow string }
		Tables   []struct {
			Catalog, Schema, Table string
			Privileges             []string
			Columns                []struct {
				Name  string
				Allow bool
			}
		}
	}
	if err := json.Unmarshal(rules, &file); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", file.Catalogs[0])
	for _, t := range file.Tables {
		fmt.Printf("%+v\n", t)
	}
	// Output:
	// {User:reader Catalog:hive|system|tpch Allow:read-only}
	// {Catalog:hive Schema:shop Table:customers Privileges:[SELECT] Columns:[{Name:password Allow:false}]}
	// {Catalog:tpch Schema:tiny Table:nation Privileges:[SELECT] Columns:[]}
	// {Catalog:system Schema:metadata Table:table_comments Privileges:[SELECT] Columns:[]}
	// {Catalog: Schema: Table: Privileges:[] Columns:[]}
}

func ExampleDialect() {
	d := trino.Dialect{Catalogs: []string{"postgresql"}}
	l := d.Language()
	fmt.Println(l.Title, l.QuoteSchema("postgresql.shop")+"."+l.Quote("Orders"))
	// Output: Trino "postgresql"."shop"."Orders"
}
