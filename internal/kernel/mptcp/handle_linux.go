package mptcp

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
)

// netlinkGeneric is NETLINK_GENERIC.
const netlinkGeneric = syscall.NETLINK_GENERIC

// Handle speaks for the network namespace of the thread that opened it; it may
// be used from any thread, by one goroutine at a time.
type Handle struct {
	socket  *nl.NetlinkSocket
	sockets map[int]*nl.SocketHandle
	family  uint16
}

// Open finds the path manager in the calling thread's network namespace. A
// kernel without it is ErrNoMPTCP. Reading needs no privilege; changing needs
// CAP_NET_ADMIN in that namespace.
func Open() (*Handle, error) {
	s, err := nl.Subscribe(netlinkGeneric) // to no group: a plain socket on this thread
	if err != nil {
		return nil, fmt.Errorf("open generic netlink: %w", err)
	}
	h := &Handle{socket: s, sockets: map[int]*nl.SocketHandle{netlinkGeneric: {Socket: s}}}
	if err := errors.Join(s.SetSendTimeout(&nl.SocketTimeoutTv), s.SetReceiveTimeout(&nl.SocketTimeoutTv)); err != nil {
		h.Close()
		return nil, fmt.Errorf("open generic netlink: %w", err)
	}
	if err := h.findFamily(); err != nil {
		h.Close()
		return nil, fmt.Errorf("open MPTCP path manager: %w", err)
	}
	return h, nil
}

// Close closes the socket; the handle must not be used afterwards.
func (h *Handle) Close() { h.socket.Close() }

func (h *Handle) findFamily() error {
	request := append(head(ctrlGetFamily, ctrlVersion), nlattr.Encode(ctrlName, append([]byte(familyName), 0))...)
	answers, err := h.ask(controller, 0, request)
	switch {
	case errors.Is(err, syscall.ENOENT):
		return ErrNoMPTCP
	case err != nil:
		return err
	case len(answers) == 0:
		return errMalformed
	}
	h.family, err = parseFamily(answers[0])
	return err
}

// ask sends one request and returns the answers' bodies.
func (h *Handle) ask(kind uint16, flags int, request []byte) ([][]byte, error) {
	r := nl.NewNetlinkRequest(int(kind), flags)
	r.Sockets = h.sockets
	r.AddRawData(request)
	return r.Execute(netlinkGeneric, kind)
}

// do sends one request that changes something.
func (h *Handle) do(command uint8, attributes ...[]byte) error {
	request := head(command, familyVersion)
	for _, a := range attributes {
		request = append(request, a...)
	}
	_, err := h.ask(h.family, syscall.NLM_F_ACK, request)
	return err
}

// Read is the limits and the endpoints.
func (h *Handle) Read() (netstate.MPTCP, error) {
	var m netstate.MPTCP
	answers, err := h.ask(h.family, 0, head(cmdGetLimits, familyVersion))
	if err == nil && len(answers) == 0 {
		err = errMalformed
	}
	if err != nil {
		return m, fmt.Errorf("read MPTCP limits: %w", err)
	}
	if m.AddAddrAccepted, m.Subflows, err = parseLimits(answers[0]); err != nil {
		return m, err
	}
	answers, err = h.ask(h.family, syscall.NLM_F_DUMP, head(cmdGetAddr, familyVersion))
	if err != nil {
		return m, fmt.Errorf("read MPTCP endpoints: %w", err)
	}
	for _, a := range answers {
		e, err := parseEndpoint(a)
		if err != nil {
			return m, err
		}
		m.Endpoints = append(m.Endpoints, e)
	}
	return m, nil
}

// SetLimits sets how many subflows beyond the first a connection may have and
// how many of the peer's announced addresses it uses; each 0 to
// netstate.MPTCPMax.
func (h *Handle) SetLimits(subflows, addAddrAccepted int) error {
	for _, n := range [...]int{subflows, addAddrAccepted} {
		if n < 0 || n > netstate.MPTCPMax {
			return fmt.Errorf("set MPTCP limits: %d is not 0 to %d: %w", n, netstate.MPTCPMax, syscall.EINVAL)
		}
	}
	err := h.do(cmdSetLimits, attribute32(attrRcvAddAddrs, uint32(addAddrAccepted)), attribute32(attrSubflows, uint32(subflows)))
	if err != nil {
		return fmt.Errorf("set MPTCP limits: %w", err)
	}
	return nil
}

// Add adds an endpoint. Its address must be on a link by the time it is used;
// Link is not read, Index is. An address that is there already is
// fs.ErrExist.
func (h *Handle) Add(e netstate.MPTCPEndpoint) error {
	if !e.Addr.IsValid() || e.ID < 0 || e.ID > 255 {
		return fmt.Errorf("add MPTCP endpoint %s with id %d: %w", e.Addr, e.ID, syscall.EINVAL)
	}
	if err := h.do(cmdAddAddr, encodeAddr(e)); err != nil {
		return fmt.Errorf("add MPTCP endpoint %s: %w", e.Addr, err)
	}
	return nil
}

// Delete removes the endpoint with this ID and address, and the subflows that
// use it. One that is not there is EINVAL, as the kernel has it.
func (h *Handle) Delete(e netstate.MPTCPEndpoint) error {
	if err := h.do(cmdDelAddr, encodeAddr(e)); err != nil {
		return fmt.Errorf("delete MPTCP endpoint %d %s: %w", e.ID, e.Addr, err)
	}
	return nil
}
