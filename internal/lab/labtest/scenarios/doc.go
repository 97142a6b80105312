// Package scenarios runs the program's own scenarios as a user does, and holds
// them to be green: every scored row as published, tune at the ceiling.
package scenarios
