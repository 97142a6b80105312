package observe

import (
	"errors"

	"github.com/linerate/linerate/internal/kernel/mptcp"
)

// mptcp reads what the MPTCP path manager is set to. A kernel without MPTCP
// lacks nothing.
func (o *live) mptcp() {
	h, err := mptcp.Open()
	if errors.Is(err, mptcp.ErrNoMPTCP) {
		return
	}
	if err != nil {
		o.note("MPTCP", err)
		return
	}
	defer h.Close()
	m, err := h.Read()
	if err != nil {
		o.note("MPTCP", err)
		return
	}
	for i, e := range m.Endpoints {
		for _, l := range o.host.Links {
			if e.Index != 0 && l.Index == e.Index {
				m.Endpoints[i].Link = l.Name
			}
		}
	}
	o.host.MPTCP = &m
}
