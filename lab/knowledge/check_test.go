package knowledge_test

import (
	"slices"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
)

// TestCheckModels: the models of the data are sound; the insurance files declare a key that is none.
func TestCheckModels(t *testing.T) {
	for name := range databases {
		t.Run(name, func(t *testing.T) {
			m := modelOf(t, name)
			faults := testutil.Value(m.Check(t.Context(), onSQLite(t, name), "sqlite"))(t)
			if name != "acme" {
				// The café has no descriptions of its products, which its model names.
				faults = slices.DeleteFunc(faults, func(f knowledge.Fault) bool { return f.Name == "products.product_description" })
				if len(faults) > 0 {
					t.Error(faults)
				}
				return
			}
			i := slices.IndexFunc(faults, func(f knowledge.Fault) bool {
				return f.Kind == "key" && f.Name == "agreement_party_role"
			})
			if i < 0 || faults[i].Rows != 4 || faults[i].Distinct != 2 {
				t.Fatal(faults)
			}
			for _, f := range faults {
				t.Log(f)
			}
			// Nobody counts a policy twice through the key that is none.
			r := knowledge.Request{Metrics: []string{"number_of_policies"},
				GroupBy: []string{"agreement_party_role.party_role_code"}}
			if sql, err := m.Compile(r, "sqlite"); err != nil {
				t.Error(err)
			} else if _, err := m.Without(faults).Compile(r, "sqlite"); err == nil {
				t.Error("still compiled: ", sql)
			}
		})
	}
}
