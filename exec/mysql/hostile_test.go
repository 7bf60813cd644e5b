package mysql_test

import "github.com/texttosql/texttosql/exec/exectest"

// hostile are statements on the large fixture that try to get past the guard, beside those of the data set.
func hostile() []exectest.Payload {
	return nil
}
