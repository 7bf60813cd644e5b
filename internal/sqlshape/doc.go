// Package sqlshape has the types that describe how a statement is built: its tables, columns and constants, its SELECTs
// with their clauses, its conditions, and its size once it is written out. The methods of sqltext.Statement return
// them.
package sqlshape
