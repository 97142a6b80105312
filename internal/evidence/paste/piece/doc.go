// Package piece is the frame in which pasted text is read: lines cleaned of what lies
// around them, prompts and headings that cut them into segments, whose each segment
// is, the table of readers, and the Case that they fill: facts with their lines,
// load tests, lists. It knows no output of any command.
package piece
