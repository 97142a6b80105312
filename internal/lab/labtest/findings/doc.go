// Package findings proves on real kernels what inspect finds wrong with hosts
// and with what is between them, and that it finds nothing where all is well.
package findings
