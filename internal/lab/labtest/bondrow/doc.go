// Package bondrow tests that a bond option is one row of a table: it takes a row
// away, writes another in its place, builds the program, and uses it.
package bondrow
