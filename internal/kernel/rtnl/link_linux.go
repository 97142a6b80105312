package rtnl

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
)

// Attributes of a link, include/uapi/linux/if_link.h as of 6.18.
const (
	iflaAddress          = 1
	iflaName             = 3
	iflaMTU              = 4
	iflaLink             = 5
	iflaMaster           = 10
	iflaTxQueueLen       = 13
	iflaOperState        = 16
	iflaLinkInfo         = 18
	iflaAlias            = 20
	iflaStats64          = 23
	iflaExtMask          = 29
	iflaNumTxQueues      = 31
	iflaNumRxQueues      = 32
	iflaCarrierChanges   = 35
	iflaLinkNetNSID      = 37
	iflaGSOMaxSegs       = 40
	iflaGSOMaxSize       = 41
	iflaMaxMTU           = 51
	iflaPropList         = 52
	iflaAltName          = 53
	iflaPermanentAddress = 54
	iflaParentName       = 56
	iflaParentBus        = 57
	iflaGROMaxSize       = 58
	iflaTSOMaxSize       = 59
	iflaLast             = 69 // newest that the header of 6.18 knows

	infoKind      = 1
	infoData      = 2
	infoSlaveKind = 4
	infoSlaveData = 5

	vlanID       = 1      // IFLA_VLAN_ID
	vlanProtocol = 5      // IFLA_VLAN_PROTOCOL, in network byte order
	protocol1ad  = 0x88a8 // ETH_P_8021AD

	linkHead = 16 // struct ifinfomsg

	flagUp       = 1 << 0
	flagLoopback = 1 << 3
	flagLowerUp  = 1 << 16
)

// operStates are RFC 2863's words, by IF_OPER_* number.
var operStates = [...]string{"unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up"}

// keptNumbers are attributes that no field of netstate holds and that matter
// to throughput; they are kept by ip-link(8)'s names.
var keptNumbers = map[uint16]string{
	iflaTxQueueLen:     "qlen",
	iflaNumTxQueues:    "numtxqueues",
	iflaNumRxQueues:    "numrxqueues",
	iflaCarrierChanges: "carrier_changes",
	iflaGSOMaxSegs:     "gso_max_segs",
	iflaGSOMaxSize:     "gso_max_size",
	iflaGROMaxSize:     "gro_max_size",
	iflaTSOMaxSize:     "tso_max_size",
}

// rawLink is a link as one message says it: others by index.
type rawLink struct {
	link   netstate.Link
	master int
	parent int  // IFLA_LINK; zero none
	afar   bool // parent is in another namespace
	vlan   int
	isVLAN bool
	// vlanProtocol is as netstate.VLAN has it.
	vlanProtocol string
	tunnel       *rawTunnel
	bond         *rawBond
	bridge       map[string]string // options; nil for no bridge
	port         *netstate.BondPort
}

// decodeLink reads an RTM_NEWLINK message.
func decodeLink(message []byte) (rawLink, error) {
	if len(message) < linkHead {
		return rawLink{}, errMalformed
	}
	flags := u32(message[8:])
	r := rawLink{link: netstate.Link{
		Index:   int(int32(u32(message[4:]))),
		Up:      flags&flagUp != 0,
		Carrier: flags&flagLowerUp != 0,
	}}
	if flags&flagLoopback != 0 {
		r.link.Kind = "loopback"
	}
	var bus, parent string
	err := nlattr.Each(message[linkHead:], func(kind uint16, v []byte) {
		switch kind {
		case iflaParentName:
			parent = text(v)
		case iflaParentBus:
			bus = text(v)
		default:
			r.attribute(kind, v)
		}
	})
	if bus == "pci" {
		r.link.PCI = parent
	} else if parent != "" {
		r.keep("parentdev", bus+"/"+parent)
	}
	if r.link.Name == "" || r.link.Index <= 0 {
		return rawLink{}, errMalformed
	}
	return r, err
}

func (r *rawLink) attribute(kind uint16, v []byte) {
	l := &r.link
	switch kind {
	case iflaAddress:
		l.MAC = mac(v)
	case iflaPermanentAddress:
		l.PermanentMAC = mac(v)
	case iflaName:
		l.Name = text(v)
	case iflaMTU:
		l.MTU = int(u32(v))
	case iflaMaxMTU:
		l.MaxMTU = int(u32(v))
	case iflaMaster:
		r.master = int(u32(v))
	case iflaLink:
		r.parent = int(u32(v))
	case iflaLinkNetNSID:
		r.afar = true
	case iflaStats64:
		l.Counters = decodeCounters(v)
	case iflaLinkInfo:
		r.info(v)
	case iflaOperState:
		if n := int(u8(v)); n < len(operStates) {
			r.keep("operstate", operStates[n])
		}
	case iflaAlias:
		r.keep("alias", text(v))
	case iflaPropList:
		_ = nlattr.Each(v, func(kind uint16, v []byte) {
			if kind == iflaAltName {
				r.keep("altnames", strings.TrimSpace(l.Extra["altnames"]+" "+text(v)))
			}
		})
	default:
		if name, ok := keptNumbers[kind]; ok {
			r.keep(name, strconv.FormatUint(uint64(u32(v)), 10))
		} else if kind > iflaLast {
			r.keep(fmt.Sprintf("ifla-%d", kind), kept(v))
		}
	}
}

func (r *rawLink) keep(key, value string) {
	if r.link.Extra == nil {
		r.link.Extra = make(map[string]string)
	}
	r.link.Extra[key] = value
}

// info reads IFLA_LINKINFO: the kind first, for the data's meaning hangs on
// it and the order is the kernel's.
func (r *rawLink) info(v []byte) {
	var data, slaveData []byte
	var slaveKind string
	err := nlattr.Each(v, func(kind uint16, v []byte) {
		switch kind {
		case infoKind:
			r.link.Kind = text(v)
		case infoData:
			data = v
		case infoSlaveKind:
			slaveKind = text(v)
		case infoSlaveData:
			slaveData = v
		}
	})
	if err != nil {
		r.keep("linkinfo", kept(v))
	}
	switch r.link.Kind {
	case "bond":
		b := decodeBond(data)
		r.bond = &b
	case "vlan":
		_ = nlattr.Each(data, func(kind uint16, v []byte) {
			switch {
			case kind == vlanID:
				r.vlan, r.isVLAN = int(u16(v)), true
			case kind == vlanProtocol && len(v) >= 2 && binary.BigEndian.Uint16(v) == protocol1ad:
				r.vlanProtocol = "802.1ad"
			}
		})
	case "bridge":
		r.bridge = decodeBridge(data)
	}
	if netstate.IsTunnel(r.link.Kind) {
		t := decodeTunnel(r.link.Kind, data)
		r.tunnel = &t
	}
	if slaveKind == "bond" {
		r.slave(slaveData)
	}
}

// decodeCounters reads struct rtnl_link_stats64, whose first eight fields
// every kernel has.
func decodeCounters(v []byte) netstate.Counters {
	at := func(i int) uint64 {
		if len(v) < 8*(i+1) {
			return 0
		}
		return u64(v[8*i:])
	}
	return netstate.Counters{
		RxPackets: at(0), TxPackets: at(1),
		RxBytes: at(2), TxBytes: at(3),
		RxErrors: at(4), TxErrors: at(5),
		RxDropped: at(6), TxDropped: at(7),
		Collisions: at(9), RxCRC: at(12), RxFrame: at(13), RxMissed: at(15),
	}
}
