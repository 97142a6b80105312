package aix

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/counterpart"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/shell"
)

// script is what changes the system, keeping what was there before.
func (w *writer) script() string {
	lines := []string{
		"#!/bin/ksh", "# The network of " + shell.OneLine(w.in.Host.Name) + " for AIX; " + downPath + " rolls it back.",
		"# The adapters lose their links for some seconds: run it on the console.", "set -eu", "mkdir -p /etc/linerate", "",
		strings.TrimSpace(scriptFind), strings.TrimSpace(scriptKeep),
	}
	return strings.Join(append(lines, w.up...), "\n") + "\n"
}

// undo is what rolls it back, in the opposite order.
func (w *writer) rollback() string {
	lines := []string{
		"#!/bin/ksh", "# Rolls back what " + upPath + " did.", "set -eu", "", strings.TrimSpace(scriptFind), strings.TrimSpace(scriptBack), "",
	}
	lines = append(lines, w.find...)
	for i := len(w.down) - 1; i >= 0; i-- {
		lines = append(lines, w.down[i])
	}
	return strings.Join(append(lines, "rm -f /etc/linerate/before /etc/linerate/made", "cfgmgr"), "\n") + "\n"
}

// scriptFind finds what the scripts have made: the system chose its name.
const scriptFind = `
channel_of() { # the EtherChannel that has these adapters
  for device in $(lsdev -Cc adapter -s pseudo -t ibm_ech -F name); do
    [ "$(lsattr -El "$device" -a adapter_names -F value)" != "$1" ] || echo "$device"
  done
}
vlan_of() { # the VLAN adapter with this tag on that adapter
  for device in $(lsdev -Cc adapter -s vlan -t eth -F name); do
    [ "$(lsattr -El "$device" -a base_adapter -F value)" != "$1" ] || [ "$(lsattr -El "$device" -a vlan_tag_id -F value)" != "$2" ] || echo "$device"
  done
}
`

// scriptKeep writes down what a value is before it is first changed.
const scriptKeep = `
keep() { # DEVICE ATTRIBUTE...
  keep_device=$1
  shift
  for attribute; do
    grep -q "^$keep_device $attribute=" /etc/linerate/before 2>/dev/null ||
      echo "$keep_device $attribute=$(lsattr -El "$keep_device" -a "$attribute" -F value)" >>/etc/linerate/before
  done
}
keepno() { # an option of no
  grep -q "^no $1=" /etc/linerate/before 2>/dev/null || echo "no $1=$(no -F -o "$1" | sed 's/.*= *//')" >>/etc/linerate/before
}
made() { # an adapter that was not there before
  echo "$1" >>/etc/linerate/made
}
`

// scriptBack sets a value as it was before.
const scriptBack = `
back() { # DEVICE ATTRIBUTE...
  back_device=$1
  shift
  for attribute; do
    line=$(grep "^$back_device $attribute=" /etc/linerate/before 2>/dev/null || true)
    [ -z "$line" ] || chdev -l "$back_device" -a "$attribute=${line#*=}" || true
  done
}
backno() { # an option of no
  line=$(grep "^no $1=" /etc/linerate/before 2>/dev/null || true)
  [ -z "$line" ] || no -p -o "$1=${line#*=}"
}
unmake() { # an adapter that the script made, with its interface
  grep -q "^$1\$" /etc/linerate/made 2>/dev/null || return 1
  ifconfig "en${1#ent}" down detach 2>/dev/null || true
  rmdev -dl "en${1#ent}" || true
  rmdev -dl "$1"
}
`

// AIX's words: EtherChannel attributes as lsattr(1) lists them, no(1)'s options.

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
