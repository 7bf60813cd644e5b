package mysql

// What tests of the package's parts need.
var (
	BeyondReading     = beyondReading
	ClassifyError     = classify
	StatementWarnings = statementWarnings
	ConverterOf       = converter
	ReadPlan          = readPlan
)

// Moment converts a value of a column of that type.
func Moment(kind string, v any) (any, error) { return conversion(kind)(v) }
