// Package care tests, on a real kernel, what a measurement feels and what it
// does to others: latency idle and under load, links that fail and return, and
// a run that ends because a third host suffers.
package care
