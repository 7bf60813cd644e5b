package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShop: everything of the file holds, and neither the numbers nor the verified question need a model.
func TestShop(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), nil, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GROUP BY", "average_order",
		"verified by the support team, 2026-03-02 (customer: Noor Hughes)", "0 calls of a model"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "does not hold") {
		t.Error(out.String())
	}
}

// TestArguments: a file without its flag is an error, and not left out of the run.
func TestArguments(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"acme.sqlite"}, &out); err == nil ||
		!strings.Contains(err.Error(), `"acme.sqlite": there are flags only`) || out.Len() > 0 {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestACME: dbt's insurance files on their database: what does not hold is told, and the metric is computed.
func TestACME(t *testing.T) {
	data := os.Getenv("TEXTTOSQL_DATA_KNOWLEDGE")
	if data == "" {
		t.Skip("TEXTTOSQL_DATA_KNOWLEDGE names no folder")
	}
	var out strings.Builder
	err := run(t.Context(), []string{"-db", filepath.Join(data, "db", "acme.sqlite"), "-dbt",
		filepath.Join(data, "dbt", "acme", "semantic_manifest.json"),
		"-metrics", "loss_payment_amount", "-by", "claim.company_claim_number"}, &out)
	for _, want := range []string{"agreement_identifier is not a key: 4 rows, 2 different values",
		"12312701 |               1,200"} {
		if err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q: %v\n%s", want, err, out.String())
		}
	}
}
