package stats

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"github.com/texttosql/texttosql/eval"
)

// Folds numbers the fold of each outcome, in 0..folds-1, for fitting on some
// questions and scoring on others. All outcomes of a group are in one fold, and
// which one depends on the name of the group alone, by hash: adding questions
// moves none of the others. Folds are of roughly equal size. Fewer than 2 folds
// mean 2; by of nil is ByQuestion.
func Folds(outcomes []eval.Outcome, by Grouping, folds int) []int {
	if by == nil {
		by = ByQuestion
	}
	folds = max(folds, 2)
	of := make([]int, len(outcomes))
	for i, o := range outcomes {
		// A hash of the standard library that mixes short names well: the folds of
		// q1, q2, … are not to follow their numbers.
		sum := sha256.Sum256([]byte(by(o)))
		fold, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:]), uint64(folds))
		of[i] = int(fold)
	}
	return of
}
