package bigquery

import (
	"database/sql/driver"

	"cloud.google.com/go/bigquery"

	"github.com/texttosql/texttosql/sqltext"
)

// NewConnector is what Open opens.
func NewConnector(client *bigquery.Client, c Config) driver.Connector { return newConnector(client, c) }

// Read is the tree of a statement: the names of its tables and functions.
func Read(text string) (tables, functions []string, err error) {
	s, err := sqltext.BigQuery().Check(text)
	if err != nil {
		return nil, nil, err
	}
	n, err := read(s, nil, false)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range n.sources {
		if len(s.names) > 0 {
			tables = append(tables, s.names[len(s.names)-1])
		}
	}
	return tables, n.functions, nil
}
