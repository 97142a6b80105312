// Package changing tests plan, apply, confirm and rollback as a user runs them,
// on hosts of the lab that a switch joins.
package changing
