// Package archtest holds the tree against ARCHITECTURE.md: who may import
// whom, who may touch the world, how long a file may be. It must never hold a
// rule that the document does not state.
package archtest
