package strategy

// VerdictCall names the type of Verdict.Calls for tests.
type VerdictCall = verdictCall
