package render

import (
	"fmt"
)

// AIX's words: EtherChannel attributes as lsattr(1) lists them, no(1)'s options.

var (
	echModes  = map[string]string{"802.3ad": "8023ad", "balance-xor": "standard", "balance-rr": "round_robin"}
	echHashes = map[string]string{"layer2": "default", "layer2+3": "default", "layer3+4": "src_dst_port"}
)

// aixOffloads are a physical adapter's attributes by ethtool's words.
var aixOffloads = map[string]string{"tso": "large_send", "lro": "large_receive", "gro": "large_receive", "tx": "chksum_offload", "rx": "chksum_offload"}

// aixOptions is the one table of tunables that AIX has too (no(1)). Buffers
// of TCP are the interface's own (ISNO), which these do not touch.
var aixOptions = []otherSysctl{
	{"net.core.rmem_max", "sb_max", same},
	{"net.core.wmem_max", "sb_max", same},
	{"net.core.somaxconn", "somaxconn", same},
	{"net.ipv4.tcp_sack", "sack", same},
	{"net.ipv4.ip_forward", "ipforwarding", same},
	{"net.ipv6.conf.all.forwarding", "ip6forwarding", same},
	{"net.ipv4.conf.all.accept_redirects", "ipignoreredirects", inverted},
	{"net.ipv4.conf.all.send_redirects", "ipsendredirects", same},
	{"net.ipv4.conf.all.accept_source_route", "ipsrcrouterecv", same},
	{"net.ipv4.icmp_echo_ignore_broadcasts", "bcastping", inverted},
	{"net.ipv4.tcp_syncookies", "clean_partial_conns", onlyOn},
}

// isno are an interface's own buffers: what the file asks of TCP; of the other
// way AIX's own for the MTU. Asked is false for a file that asks nothing.
type isno struct{ send, receive int }

func isnoOf(in Input, mtu int, l *ledger) (i isno, asked bool) {
	i = isno{131072, 65536}
	if mtu > 1500 {
		i = isno{262144, 131072}
	}
	for _, row := range []struct {
		key  string
		size *int
	}{{"net.ipv4.tcp_wmem", &i.send}, {"net.ipv4.tcp_rmem", &i.receive}} {
		if value, ok := in.sysctls()[row.key]; ok {
			if text, ok := largest(value); ok {
				*row.size, asked = number(text), true
				l.say("", "sysctl."+row.key)
			}
		}
	}
	return i, asked
}

// attributes are chdev's words for them; windows above 64 KB need rfc1323.
func (i isno) attributes() []string {
	all := []string{fmt.Sprintf("tcp_sendspace=%d", i.send), fmt.Sprintf("tcp_recvspace=%d", i.receive)}
	if i.send > 65535 || i.receive > 65535 {
		all = append(all, "rfc1323=1")
	}
	return all
}
