package aix

import (
	"fmt"
	"regexp"

	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/counterpart"
	"github.com/linerate/linerate/render/ledger"
)

// AIX's words: EtherChannel attributes as lsattr(1) lists them, no(1)'s options.

var (
	echModes  = map[string]string{"802.3ad": "8023ad", "balance-xor": "standard", "balance-rr": "round_robin"}
	echHashes = map[string]string{"layer2": "default", "layer2+3": "default", "layer3+4": "src_dst_port"}
)

// adapterName is an adapter's name: AIX counts them.
var adapterName = regexp.MustCompile(`^ent[0-9]{1,4}$`)

// offloads are a physical adapter's attributes by ethtool's words.
var offloads = map[string]string{"tso": "large_send", "lro": "large_receive", "gro": "large_receive", "tx": "chksum_offload", "rx": "chksum_offload"}

// noOptions is the one table of tunables that AIX has too (no(1)). Buffers
// of TCP are the interface's own (ISNO), which these do not touch.
var noOptions = []counterpart.Sysctl{
	{Linux: "net.core.rmem_max", Other: "sb_max", Value: counterpart.Same},
	{Linux: "net.core.wmem_max", Other: "sb_max", Value: counterpart.Same},
	{Linux: "net.core.somaxconn", Other: "somaxconn", Value: counterpart.Same},
	{Linux: "net.ipv4.tcp_sack", Other: "sack", Value: counterpart.Same},
	{Linux: "net.ipv4.ip_forward", Other: "ipforwarding", Value: counterpart.Same},
	{Linux: "net.ipv6.conf.all.forwarding", Other: "ip6forwarding", Value: counterpart.Same},
	{Linux: "net.ipv4.conf.all.accept_redirects", Other: "ipignoreredirects", Value: counterpart.Inverted},
	{Linux: "net.ipv4.conf.all.send_redirects", Other: "ipsendredirects", Value: counterpart.Same},
	{Linux: "net.ipv4.conf.all.accept_source_route", Other: "ipsrcrouterecv", Value: counterpart.Same},
	{Linux: "net.ipv4.icmp_echo_ignore_broadcasts", Other: "bcastping", Value: counterpart.Inverted},
	{Linux: "net.ipv4.tcp_syncookies", Other: "clean_partial_conns", Value: counterpart.OnlyOn},
}

// isno are an interface's own buffers: what the file asks of TCP; of the other
// way AIX's own for the MTU. Asked is false for a file that asks nothing.
type isno struct{ send, receive int }

func isnoOf(in render.Input, mtu int, l *ledger.Ledger) (i isno, asked bool) {
	i = isno{131072, 65536}
	if mtu > 1500 {
		i = isno{262144, 131072}
	}
	for _, row := range []struct {
		key  string
		size *int
	}{{"net.ipv4.tcp_wmem", &i.send}, {"net.ipv4.tcp_rmem", &i.receive}} {
		if value, ok := in.AllSysctls()[row.key]; ok {
			if text, ok := counterpart.Largest(value); ok {
				*row.size, asked = counterpart.Number(text), true
				l.Say("", "sysctl."+row.key)
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
