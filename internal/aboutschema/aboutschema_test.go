package aboutschema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/aboutschema"
	"github.com/texttosql/texttosql/schema"
)

var shop = &schema.Schema{Tables: []schema.Table{
	{Name: "orders", PrimaryKey: []string{"id"}, Columns: []schema.Column{
		{Name: "id", Type: "INTEGER"}, {Name: "customer_id", Type: "INTEGER"},
		{Name: "kind", Type: "enum('a','b')", Description: "retail\nor 'trade'"}},
		ForeignKeys: []schema.ForeignKey{{Columns: []string{"customer_id"}, RefTable: "customers",
			RefColumns: []string{"id"}}}},
	{Name: "customers", Columns: []schema.Column{{Name: "id", Type: "INTEGER"}}},
	{Name: "order_lines", Columns: []schema.Column{{Name: "id"}, {Name: "n"}}},
	{Schema: "lake", Name: "payments", Columns: []schema.Column{{Name: "id"}}},
}}

const (
	tables = "SELECT 'orders' AS table_name UNION ALL SELECT 'customers' UNION ALL SELECT 'order_lines' UNION ALL " +
		"SELECT 'lake.payments'"
	orders = "SELECT 'id' AS column_name, 'INTEGER' AS type, 'primary key' AS about " +
		"UNION ALL SELECT 'customer_id', 'INTEGER', 'refers to customers' UNION ALL SELECT 'kind', 'enum(’a’,’b’)', " +
		"'retail or ’trade’'"
	lines   = "SELECT 'id' AS column_name, '' AS type, '' AS about UNION ALL SELECT 'n', '', ''"
	payment = "SELECT 'id' AS column_name, '' AS type, '' AS about"
	four    = "SELECT 4 AS table_count"
	three   = "SELECT 3 AS column_count"
)

// TestAnswer: what the schema answers, in each language that is read.
func TestAnswer(t *testing.T) {
	for want, questions := range map[string][]string{
		tables: {"which tables are there?", "List all tables", "show me the tables in this database",
			"Please list the names of all tables.",
			"Welche Tabellen gibt es?", "¿Qué tablas hay?", "Quelles tables existent ?", "有哪些表？", "どんなテーブルがありますか？",
			"ما هي الجداول؟"},
		four: {"how many tables are there?", "How many tables does the database have?", "Wie viele Tabellen gibt es?",
			"¿Cuántas tablas hay?",
			"Combien de tables y a-t-il ?", "有多少张表？", "テーブルはいくつありますか？", "كم عدد الجداول؟"},
		three: {"How many columns does the table orders have?", "how many fields are in orders",
			"Wie viele Spalten hat die Tabelle orders?",
			"¿Cuántas columnas tiene orders?", "Combien de colonnes a la table orders ?", "orders表有多少列？",
			"كم عدد أعمدة orders؟"},
		orders: {"which columns has orders", "What columns does the table orders have?", "Describe the orders table",
			"describe orders", "desc `orders`",
			"Show the columns of ORDERS.", "list all fields in the order table", "What is the structure of the table orders?",
			"show me the schema of orders",
			"Could you show me the columns of orders?", "Welche Spalten hat die Tabelle orders?",
			"Beschreibe die Tabelle orders",
			"¿Qué columnas tiene la tabla orders?", "Quelles colonnes a la table orders ?", "Décris la table orders",
			"orders表有哪些列？", "描述orders表", "ما هي أعمدة جدول orders؟"},
		lines: {"which columns does order lines have?", "describe order_lines", "describe the order-lines table",
			"which fields are in \"order_lines\""},
		payment: {"describe payments", "which columns has lake.payments?", "which columns does the payment table have?"},
		"": {"which columns has invoices?", "describe the orders of France", "Which customers have orders?",
			"Describe our customers by country",
			"How many orders are there?", "how many tables of food were ordered?", "which columns have NULL in orders?", "",
			"Describe the weather",
			"Show the table of customers by country", "Which fields are used by customers of orders?", "List the orders",
			"What is the schema of life?"},
	} {
		for _, question := range questions {
			if got := aboutschema.Answer(question, shop); got != want {
				t.Errorf("%s\ngot  %s\nwant %s", question, got, want)
			}
		}
	}
}

// TestAnswerData: nouns that the data has tables or columns of, and names and lists that no statement takes.
func TestAnswerData(t *testing.T) {
	of := func(names ...string) *schema.Schema {
		s := &schema.Schema{}
		for _, name := range names {
			table, column, _ := strings.Cut(name, ".")
			s.Tables = append(s.Tables, schema.Table{Name: table, Columns: []schema.Column{{Name: column, Type: "INT"}}})
		}
		return s
	}
	long := of()
	for i := range 401 {
		long.Tables = append(long.Tables, of(fmt.Sprintf("t%d.x", i)).Tables...)
	}
	for _, tt := range []struct {
		why, question string
		of            *schema.Schema
		answered      bool
	}{
		{"the tables of a restaurant", "how many tables are there?", of("dining_tables.id"), false},
		{"but their columns", "describe dining tables", of("dining_tables.id"), true},
		{"the fields of a farm", "which fields does farms have?", of("farms.id", "fields.id"), false},
		{"a column called so", "which fields does farms have?", of("farms.field_count"), false},
		{"a table in two schemas", "describe stock", &schema.Schema{Tables: []schema.Table{
			{Schema: "a", Name: "stock", Columns: []schema.Column{{Name: "x"}}},
			{Schema: "b", Name: "stock", Columns: []schema.Column{{Name: "y"}}}}}, false},
		{"two tables alike", "describe order line", of("order_line.id", "order_lines.id"), true},
		{"a quote in a name", "which tables are there?", of("a'b.id"), false},
		{"more than a statement takes", "which tables are there?", long, false},
		{"but their number", "how many tables are there?", long, true},
		{"no columns", "describe nothing", &schema.Schema{Tables: []schema.Table{{Name: "nothing"}}}, false},
	} {
		if got := aboutschema.Answer(tt.question, tt.of); (got != "") != tt.answered {
			t.Errorf("%s: %s: %q", tt.why, tt.question, got)
		}
	}
}
