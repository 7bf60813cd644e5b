package dialecttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/result"
)

// SameTexts runs SELECT e AS v, CAST(e AS text) AS s for each expression e, and reports those whose value does not read
// as the text that the engine itself writes. cast writes the cast. A bool may be true, t or 1, a float may have other
// digits of the same number, the fraction of a time may lack zeros, and an instant may be written in another zone. The
// type of a column must have a name.
func SameTexts(t testing.TB, db *exec.DB, cast func(expression string) string, expressions []string) {
	t.Helper()
	for _, e := range expressions {
		table, err := db.Query(t.Context(), "SELECT "+e+" AS v, "+cast(e)+" AS s")
		switch {
		case err != nil:
			t.Errorf("%s: %v", e, err)
		case len(table.Rows) != 1 || len(table.Types) != 2:
			t.Errorf("%s: %d rows of %d types", e, len(table.Rows), len(table.Types))
		case !sameText(table.Types[0], table.Rows[0][0], table.Rows[0][1]):
			t.Errorf("%s is %#v of %+v, and its text is %#v", e, table.Rows[0][0], table.Types[0], table.Rows[0][1])
		}
	}
}

func sameText(of result.Type, v, text any) bool {
	s, _ := text.(string)
	switch v := v.(type) {
	case nil:
		return text == nil
	case bool:
		return v && (s == "true" || s == "t" || s == "1") || !v && (s == "false" || s == "f" || s == "0")
	case float64:
		var f float64
		_, err := fmt.Sscan(s, &f)
		return err == nil && (f == v || f != f && v != v)
	case []byte:
		return s == string(v) || s == fmt.Sprintf(`\x%x`, v)
	case string:
		if v == s {
			return true
		}
		return moment(of, v) == moment(of, s)
	}
	return fmt.Sprint(v) == s
}

// moment is a date or time without zeros at the end of its fraction, an instant in UTC.
func moment(of result.Type, text string) string {
	switch of.Kind {
	case result.KindInstant:
		if at := strings.LastIndexAny(text, "+-"); at > len("2006-01-02") && len(text)-at == 3 {
			text += ":00" // how PostgreSQL and DuckDB write whole hours
		}
		text, _ = of.Plain(text).(string)
	case result.KindTime, result.KindDateTime:
	default:
		return text
	}
	if whole, fraction, ok := strings.Cut(text, "."); ok {
		text = strings.TrimSuffix(whole+"."+strings.TrimRight(fraction, "0"), ".")
	}
	return text
}
