// Package mptcp speaks to the kernel's MPTCP path manager (generic netlink
// family mptcp_pm) in one network namespace, and reads what the kernel knows
// of an MPTCP connection. Parsers trust no length; an attribute that nobody
// here reads is skipped.
package mptcp

import "errors"

// ErrNoMPTCP is a kernel without the path manager's netlink family: older than
// 5.6, or built without MPTCP. It is errors.ErrUnsupported.
var ErrNoMPTCP = noMPTCP{}

type noMPTCP struct{}

func (noMPTCP) Error() string { return "this kernel has no MPTCP (Linux has it since 5.6)" }

func (noMPTCP) Is(target error) bool { return target == errors.ErrUnsupported }
