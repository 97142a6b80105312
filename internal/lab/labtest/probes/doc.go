// Package probes proves on real kernels that a trial in which nothing arrives
// is a result with its evidence, and that the probes of explain decide what a
// trial alone cannot.
package probes
