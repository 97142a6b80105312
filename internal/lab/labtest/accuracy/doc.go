// Package accuracy tests what a measurement says against shapers whose rate is
// known and the counters of the links, on running kernels.
package accuracy
