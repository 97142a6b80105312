// Package evidence proves on a real kernel that what a trial keeps of the
// kernel's counters is what happened.
package evidence
