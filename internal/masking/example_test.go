package masking_test

import (
	"fmt"

	"github.com/texttosql/texttosql/internal/masking"
	"github.com/texttosql/texttosql/schema"
)

func ExampleMasker() {
	s := &schema.Schema{Tables: []schema.Table{{Name: "singers", Columns: []schema.Column{{Name: "birthYear"}}}}}
	fmt.Println(masking.Masker(s, true)("How many singers have a birth year after 1980?"))
	// Output: how many <mask> have a <mask> <mask> after <unk>
}
