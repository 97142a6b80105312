package netstate

import (
	"fmt"
	"net/netip"
	"strings"
)

// MPTCPMax is the most subflows beyond the first, announced addresses taken,
// and endpoints that Linux's path manager has (MPTCP_PM_ADDR_MAX,
// net/mptcp/protocol.h).
const MPTCPMax = 8

// MPTCP is what the in-kernel path manager of a network namespace does.
type MPTCP struct {
	// Subflows is how many a connection may have beyond its first; Linux
	// starts with 2. Both ends must allow them.
	Subflows int `json:"subflows_count"`
	// AddAddrAccepted is how many of the addresses that a peer announces are
	// used; Linux starts with 0.
	AddAddrAccepted int             `json:"add_addr_accepted_count"`
	Endpoints       []MPTCPEndpoint `json:"endpoints,omitempty"`
}

// MPTCPEndpoint is one local address that the path manager may use.
type MPTCPEndpoint struct {
	// ID is the kernel's number for it; zero lets the kernel choose.
	ID   int        `json:"id,omitempty"`
	Addr netip.Addr `json:"address"`
	// Port is the one announced with a signal; zero is the connection's own.
	Port  uint16     `json:"port,omitempty"`
	Flags MPTCPFlags `json:"flags"`
	// Index is the ifindex that its subflows are bound to, Link its name;
	// zero and "" leave the choice to the routes.
	Index int    `json:"ifindex,omitempty"`
	Link  string `json:"link,omitempty"`
}

// MPTCPFlags say what an endpoint is for (MPTCP_PM_ADDR_FLAG_*,
// include/uapi/linux/mptcp.h).
type MPTCPFlags uint32

// Endpoint flags by their kernel numbers.
const (
	MPTCPSignal   MPTCPFlags = 1 << 0 // announce the address to the peer
	MPTCPSubflow  MPTCPFlags = 1 << 1 // open a subflow from it to the peer's first address
	MPTCPBackup   MPTCPFlags = 1 << 2 // used when no other subflow works
	MPTCPFullmesh MPTCPFlags = 1 << 3 // open subflows to every known address, since Linux 5.15
	MPTCPImplicit MPTCPFlags = 1 << 4 // made by the kernel for a subflow's own address
	MPTCPLaminar  MPTCPFlags = 1 << 5 // since Linux 6.18
)

// mptcpFlagWords is the one table of the flags' words, by bit
// (ip-mptcp(8); laminar as in the kernel's mptcp_pm specification).
var mptcpFlagWords = [...]string{"signal", "subflow", "backup", "fullmesh", "implicit", "laminar"}

// String is the words of ip-mptcp(8), separated by a blank, and the number of
// what the table lacks; "" for none.
func (f MPTCPFlags) String() string {
	var words []string
	for i, w := range mptcpFlagWords {
		if f&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	if rest := f &^ (1<<len(mptcpFlagWords) - 1); rest != 0 {
		words = append(words, fmt.Sprintf("%#x", uint32(rest)))
	}
	return strings.Join(words, " ")
}

// MarshalText writes String.
func (f MPTCPFlags) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (f *MPTCPFlags) UnmarshalText(b []byte) error {
	var all MPTCPFlags
next:
	for _, word := range strings.Fields(string(b)) {
		for i, w := range mptcpFlagWords {
			if w == word {
				all |= 1 << i
				continue next
			}
		}
		var rest uint32
		if _, err := fmt.Sscanf(word, "0x%x", &rest); err != nil || fmt.Sprintf("%#x", rest) != word {
			return fmt.Errorf("parse MPTCP endpoint flag %q: want one of %v", word, mptcpFlagWords)
		}
		all |= MPTCPFlags(rest)
	}
	*f = all
	return nil
}
