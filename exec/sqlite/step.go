package sqlite

import (
	"context"

	"github.com/texttosql/texttosql/sqltext"
)

// Step runs text as it is, however its columns are declared, and reads no value.
func (h *held) Step(ctx context.Context, text string, most int) (int, error) {
	rows, err := h.run(ctx, text, sqltext.SQLite().Parse(text), nil)
	if err != nil {
		return 0, err
	}
	names, err := rows.Columns()
	if err == nil {
		err = h.fit(len(names))
	}
	if err != nil {
		h.close()
		return 0, classify(err, true, nil)
	}
	n := 0
	for n <= most && rows.Next() {
		n++
	}
	err = rows.Err()
	h.close()
	if err != nil {
		return n, h.Classify(err)
	}
	return n, nil
}
