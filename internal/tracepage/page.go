// Package tracepage has the content of the page about one answer. trace.Span.WritePage writes it.
package tracepage

// Page is one answer for a person to read: the question, the statement, the confidence, the votes, and a timeline of
// the work. The caller fills in what it wants to show. The fields are shown as they are, private or not. An empty field
// shows nothing.
type Page struct {
	Title    string    // title of the document; "": the question
	Question string    // the heading
	SQL      string    // the statement of the answer
	Problem  string    // why there is no answer, or what is wrong with it
	Facts    []Fact    // shown first; time, calls and tokens of the trace follow
	Sections []Section // the ballot, the head of the result, …
}

// Fact is a figure with its name: "Confidence", "0.83". In a section it is one of several shares, such as a cluster of
// a ballot.
type Fact struct {
	Name  string // what it is
	Value string // the figure as shown: "0.83", "7 of 12"
	// 0..1, drawn as a bar; NaN and values outside are moved into it; 0: no bar, or an empty one in a section
	Share float64

	// These are shown in a section only.
	Detail  string // text in a block, such as the statement of a cluster
	Lead    bool   // the fact was chosen
	Samples []int  // samples of a cluster: steps with one of them as attribute "sample" get its colour
}

// Section is a part of the page with a heading, with bars, a table, or both.
type Section struct {
	Title   string     // its heading
	Note    string     // a line below the heading
	Bars    []Fact     // shown above the table
	Columns []string   // heads of the table
	Rows    [][]string // cells by column; a short row is filled up with empty cells
}
