// Package crash ends the program and the machine at the worst moments, while a
// host is being changed, and looks at what is left: the host as it was, or the
// change whole and confirmed, and nothing between.
package crash
