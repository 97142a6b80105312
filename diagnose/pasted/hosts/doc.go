// Package hosts has the rules about what is at either end and on the way of pasted
// questions: processors, windows, routes, clouds, filters, storage, programs.
package hosts
