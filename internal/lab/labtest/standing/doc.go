// Package standing tests labs that are left standing, as a user has them: the
// program's commands, two labs of one scenario at once, and whatever is killed
// nothing is left.
package standing
