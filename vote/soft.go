package vote

import "github.com/texttosql/texttosql/result"

// RowOverlap is the part of their rows that two results share, from the sketches
// of the candidates: see [result.Overlap]. As Majority.Overlap it makes a soft
// vote, the minimum Bayes risk decoding by execution of Shi et al. (EMNLP 2022)
// with rows instead of whole results: an answer that most others nearly give can
// win over one that a few give exactly. Candidates without a sketch overlap with
// nothing.
//
// On recorded answers it moved the accuracy by a few questions in either
// direction, so it is no default.
func RowOverlap(a, b Candidate) float64 { return result.Overlap(a.Sketch, b.Sketch) }
