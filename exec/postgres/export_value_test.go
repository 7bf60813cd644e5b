package postgres

// Of values and errors.
var (
	Converter = converter
	OnText    = onText
	Classify  = classify
	ReadPlan  = readPlan
)
