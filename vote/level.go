package vote

import (
	"fmt"
	"strings"
)

// Level is the evidence for an answer. A Ballot gives one of the first four; the others are for answers without a vote.
type Level string

// The levels.
const (
	LevelAgreed   Level = "agreed"   // 0.85 or more, from three in four samples or more, and no contradiction
	LevelCheck    Level = "check"    // a doubt about the meaning, a split vote, or too few samples
	LevelUnsure   Level = "unsure"   // fewer than half of the samples support it
	LevelSingle   Level = "single"   // one statement, compared with nothing and not doubted
	LevelVerified Level = "verified" // a person verified this question with this statement
	LevelChosen   Level = "chosen"   // the user picked a reading
	LevelOwn      Level = "own"      // the user's own statement, or metrics that the user named
	LevelSchema   Level = "schema"   // read from the schema, without a model
)

// agreedFrom is the least confidence of LevelAgreed. Five equal votes reach it, four do not.
const agreedFrom = 0.85

// Closing returns a sentence about an answer of this level, for a person. It is "" for the levels of a vote of
// several samples: [Ballot.Closing] explains those.
func (l Level) Closing() string {
	return map[Level]string{
		LevelSingle: "One statement; not voted on.", LevelVerified: "Verified.", LevelChosen: "You chose this reading.",
		LevelOwn:    "Your statement.",
		LevelSchema: "Read from the schema, without a model.",
	}[l]
}

// Level returns the evidence for the winner; "" without a vote.
func (b Ballot) Level() Level {
	switch {
	case len(b.Clusters) == 0:
		return ""
	case b.isSingle() && b.Clusters[0].Doubt == 0:
		return LevelSingle
	case 2*len(b.Clusters[0].Members) < b.requested():
		return LevelUnsure
	case b.isSingle(), b.Confidence < agreedFrom-1e-9, 4*len(b.Clusters[0].Members) < 3*b.requested():
		return LevelCheck
	}
	return LevelAgreed
}

// isSingle reports whether one sample was asked for.
func (b Ballot) isSingle() bool { return b.Sampled == 1 && b.Missing == 0 }

// requested is the number of samples that were asked for. Candidates of weight 0 are no samples.
func (b Ballot) requested() int {
	n := b.Sampled + b.Missing
	for _, a := range b.Abstained {
		if a.Why == noWeight {
			n--
		}
	}
	return n
}

// Closing returns one or two sentences about the evidence for the winner, for a person:
//
//	All 9 samples agree.
//	9 of 10 samples agree; 1 gave no usable statement.
//	Two models agree. All 7 samples agree.
//	Check this: more columns than asked.
//	Check this: 8 of 12 samples agree.
//	Not sure: this answer has 4 of 12 samples. 6 of 12 samples did not reply.
//	One statement; not voted on.
//
// [Ballot.Explain] has the factors of the confidence.
func (b Ballot) Closing() string {
	if len(b.Clusters) == 0 {
		return "No answer: " + strings.TrimPrefix(b.noVote().Error(), "vote: ") + "."
	}
	text := ""
	switch reasons := strings.Join(b.Reasons(), "; "); b.Level() {
	case LevelAgreed:
		text = b.agreement() + "."
		if b.Second != "" {
			text = "Two models agree. " + text
		}
	case LevelCheck:
		if text = "Check this: " + reasons + "."; b.isSingle() {
			text += " " + LevelSingle.Closing()
		}
	case LevelUnsure:
		text = "Not sure: " + reasons + "."
	case LevelSingle:
		text = LevelSingle.Closing()
	}
	if b.Missing > 0 {
		text += fmt.Sprintf(" %d of %d samples did not reply.", b.Missing, b.requested())
	}
	return text
}

// Reasons lists in words why the level is LevelCheck or LevelUnsure: the split of the votes, and doubts about the
// winner. At other levels it is nil. Closing joins the reasons.
func (b Ballot) Reasons() (reasons []string) {
	switch b.Level() {
	case LevelCheck:
		if !b.Overruled {
			reasons = b.Clusters[0].doubts()
		}
		if len(reasons) == 0 {
			reasons = []string{b.split()}
		}
	case LevelUnsure:
		reasons = append([]string{b.split()}, b.Clusters[0].doubts()...)
	}
	return reasons
}

// agreement tells how many of the samples that replied gave the winner, and how many gave nothing to compare.
func (b Ballot) agreement() string {
	votes, replied := len(b.Clusters[0].Members), b.requested()-b.Missing
	if votes == replied {
		return fmt.Sprintf("All %d samples agree", votes)
	}
	return fmt.Sprintf("%d of %d samples agree", votes, replied) + b.unusable()
}

// unusable tells how many samples that replied have no vote; "": none.
func (b Ballot) unusable() string {
	if n := len(b.Abstained) - (b.Sampled + b.Missing - b.requested()); n > 0 {
		return fmt.Sprintf("; %d gave no usable statement", n)
	}
	return ""
}

// split tells how the votes fell where they do not carry the winner.
func (b Ballot) split() string {
	votes, replied := len(b.Clusters[0].Members), b.requested()-b.Missing
	text := fmt.Sprintf("this answer has %d of %d samples", votes, replied)
	switch {
	case b.Overruled:
		text += " and was chosen over the count"
	case votes == replied && votes > 1:
		text = fmt.Sprintf("only %d samples were compared, and all agree", votes)
	case b.Level() == LevelCheck && votes > 1:
		return b.agreement()
	}
	return text + b.unusable()
}
