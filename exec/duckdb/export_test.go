package duckdb

import "database/sql/driver"

// NewConnector is what Open gives its handle.
func NewConnector(path string, o Options) (driver.Connector, error) { return newConnector(path, o) }
