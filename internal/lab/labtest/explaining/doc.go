// Package explaining judges the judge: networks drawn at random are built on
// running kernels, measured, spoilt, and measured again; what is then said to
// limit them is held against which repair brings the most.
package explaining
