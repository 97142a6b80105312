// Package stopping tests that the stop rule keeps its promise on a noisy link
// of a real kernel: short runs, each with its interval, against long ones.
package stopping
