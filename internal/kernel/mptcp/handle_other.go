//go:build !linux

package mptcp

import "github.com/linerate/linerate/netstate"

// Handle does nothing here.
type Handle struct{}

// Open is ErrNoMPTCP.
func Open() (*Handle, error) { return nil, ErrNoMPTCP }

// Close does nothing.
func (h *Handle) Close() {}

// Read is ErrNoMPTCP.
func (h *Handle) Read() (netstate.MPTCP, error) { return netstate.MPTCP{}, ErrNoMPTCP }

// SetLimits is ErrNoMPTCP.
func (h *Handle) SetLimits(subflows, addAddrAccepted int) error { return ErrNoMPTCP }

// Add is ErrNoMPTCP.
func (h *Handle) Add(netstate.MPTCPEndpoint) error { return ErrNoMPTCP }

// Delete is ErrNoMPTCP.
func (h *Handle) Delete(netstate.MPTCPEndpoint) error { return ErrNoMPTCP }

// Flush is ErrNoMPTCP.
func (h *Handle) Flush() error { return ErrNoMPTCP }
