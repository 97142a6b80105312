// Package subflows tests the subflows of MPTCP connections on the links of a bond, on a kernel
// with both.
package subflows
