// Package archtest holds the tree against ARCHITECTURE.md: who may import
// whom, who may touch the world, how large files and packages may be, how they
// are named, that each package says what it is, and that what the pages for
// contributors name is there. It must never hold a rule that the document does
// not state. TestWords refuses words that are private to this project, in what
// people read.
package archtest
