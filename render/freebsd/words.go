package freebsd

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/render/counterpart"
)

// offloadWords are ifconfig(8)'s words by ethtool's.
var offloadWords = map[string]string{"lro": "lro", "tso": "tso", "rx": "rxcsum", "tx": "txcsum", "rxvlan": "vlanhwtag", "txvlan": "vlanhwtag"}

// Sysctls is the one table of tunables that FreeBSD has too (tcp(4),
// inet(4), inet6(4), icmp(4), and the tuning advice of tuning(7)).
var Sysctls = []counterpart.Sysctl{
	{Linux: "net.ipv4.tcp_rmem", Other: "net.inet.tcp.recvbuf_max", Value: counterpart.Largest},
	{Linux: "net.ipv4.tcp_wmem", Other: "net.inet.tcp.sendbuf_max", Value: counterpart.Largest},
	{Linux: "net.core.rmem_max", Other: "kern.ipc.maxsockbuf", Value: counterpart.Same},
	{Linux: "net.core.wmem_max", Other: "kern.ipc.maxsockbuf", Value: counterpart.Same},
	{Linux: "net.core.somaxconn", Other: "kern.ipc.soacceptqueue", Value: counterpart.Same},
	{Linux: "net.ipv4.tcp_congestion_control", Other: "net.inet.tcp.cc.algorithm", Value: counterpart.OneOf("cubic", "htcp", "vegas", "dctcp")},
	{Linux: "net.ipv4.tcp_mtu_probing", Other: "net.inet.tcp.pmtud_blackhole_detection", Value: counterpart.OnlyOn},
	{Linux: "net.ipv4.tcp_syncookies", Other: "net.inet.tcp.syncookies", Value: counterpart.OnlyOn},
	{Linux: "net.ipv4.tcp_timestamps", Other: "net.inet.tcp.rfc1323", Value: counterpart.Same},
	{Linux: "net.ipv4.tcp_sack", Other: "net.inet.tcp.sack.enable", Value: counterpart.Same},
	{Linux: "net.ipv4.ip_forward", Other: "net.inet.ip.forwarding", Value: counterpart.Same},
	{Linux: "net.ipv6.conf.all.forwarding", Other: "net.inet6.ip6.forwarding", Value: counterpart.Same},
	{Linux: "net.ipv4.conf.all.accept_redirects", Other: "net.inet.icmp.drop_redirect", Value: counterpart.Inverted},
	{Linux: "net.ipv6.conf.all.accept_redirects", Other: "net.inet6.icmp6.rediraccept", Value: counterpart.Same},
	{Linux: "net.ipv4.conf.all.send_redirects", Other: "net.inet.ip.redirect", Value: counterpart.Same},
	{Linux: "net.ipv4.conf.all.accept_source_route", Other: "net.inet.ip.accept_sourceroute", Value: counterpart.Same},
	{Linux: "net.ipv4.icmp_echo_ignore_broadcasts", Other: "net.inet.icmp.bmcastecho", Value: counterpart.Inverted},
}

// variables are assignments of rc.conf(5), loader.conf(5) and sysctl.conf(5).
type variables struct{ list []assigned }

type assigned struct{ name, value string }

func (v *variables) add(name, value string) {
	for i := range v.list {
		if v.list[i].name == name {
			v.list[i].value = value
			return
		}
	}
	v.list = append(v.list, assigned{name, value})
}

// value is what a variable was given; false for none.
func (v *variables) value(name string) (string, bool) {
	for _, a := range v.list {
		if a.name == name {
			return a.value, true
		}
	}
	return "", false
}

// addWord adds a word to a list that a variable holds.
func (v *variables) addWord(name, word string) {
	for i := range v.list {
		if v.list[i].name == name {
			if !slices.Contains(strings.Fields(v.list[i].value), word) {
				v.list[i].value += " " + word
			}
			return
		}
	}
	v.add(name, word)
}

// text is the file with the assignments in it: in the place of those that are
// there, the others at the end. Words of the lists named stay beside the new
// ones. Values stand in double quotes where quotes is true.
func (v variables) text(old string, quotes bool, lists ...string) string {
	var lines []string
	if old != "" {
		lines = strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	}
	for _, a := range v.list {
		value, at := a.value, -1
		for i, line := range lines {
			name, was, ok := strings.Cut(line, "=")
			if !ok || strings.TrimSpace(name) != a.name {
				continue
			}
			at = i
			if slices.Contains(lists, a.name) {
				value = joined(strings.Trim(strings.TrimSpace(was), `"'`), a.value)
			}
		}
		line := a.name + "=" + value
		if quotes {
			line = a.name + `="` + value + `"`
		}
		if at >= 0 {
			lines[at] = line
		} else {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// joined are the words of both, each once.
func joined(old, more string) string {
	words := strings.Fields(old)
	for _, w := range strings.Fields(more) {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}
