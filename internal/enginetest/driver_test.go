package enginetest_test

import (
	"context"
	"database/sql/driver"
	"errors"
)

// connector belongs to a driver that offers nothing to guard with.
type connector struct{}

func (connector) Connect(context.Context) (driver.Conn, error) {
	return nil, errors.New("no connection")
}
func (connector) Driver() driver.Driver { return plainDriver{} }

type plainDriver struct{}

func (plainDriver) Open(string) (driver.Conn, error) { return nil, errors.New("no connection") }
