// Package findings has the names of findings that the engine reads and no program matches on.
package findings

// NoMetric is the Reason of a candidate that stands for a metric request without a metric: the model says that none
// answers the question. It is neither a vote nor an abstention.
const NoMetric = "no-metric"

// DoubleCounting is the rule of the vote.Finding about a SUM over rows that a join repeats, by the keys of the schema
// and of strategy.Env.Knowledge; see sqltext.Statement.Repeated. It is information and not a doubt.
const DoubleCounting = "double_counting"

// Contradiction begins the rules of the findings of doubt.QuestionFeatures.Contradictions.
const Contradiction = "contradiction-"
