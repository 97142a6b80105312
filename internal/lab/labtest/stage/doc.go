// Package stage lets a test binary of the lab be the program's guard as well.
package stage
