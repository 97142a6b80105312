// Package pathtext reads what people say in sentences of the way that packets take: a
// tunnel or an overlay, a guest's card, a long path, rates that are compared, and what
// helped. Facts of "said", no measurements.
package pathtext
