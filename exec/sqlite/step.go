package sqlite

import (
	"context"

	"github.com/texttosql/texttosql/sqltext"
)

// Step runs text as it is, however its columns are declared, and reads no value.
func (h *held) Step(ctx context.Context, text string, most int) error {
	rows, err := h.run(ctx, text, sqltext.SQLite().Parse(text), nil)
	if err != nil {
		return err
	}
	names, err := rows.Columns()
	if err == nil {
		err = h.fit(len(names))
	}
	if err != nil {
		h.close()
		return classify(err, true, nil)
	}
	for n := 0; n <= most && rows.Next(); n++ {
	}
	err = rows.Err()
	h.close()
	if err != nil {
		return h.Classify(err)
	}
	return nil
}
