package render

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/formats"
)

// injectBase has a text of the user's in every place that takes one.
const injectBase = `linerate: v1
hosts:
  h:
    network:
      version: 2
      renderer: networkd
      ethernets:
        p0: {match: {name: p0, macaddress: "02:00:00:00:00:01", driver: ixgbe}, set-name: p0, wakeonlan: true}
        p1: {optional: true}
        e0:
          match: {name: "e0"}
          mtu: 1400
          macaddress: "02:00:00:00:00:09"
          dhcp4: true
          dhcp4-overrides: {hostname: name, use-domains: route, route-metric: 70, send-hostname: true}
          dhcp-identifier: mac
          ipv6-address-token: "::2"
          link-local: [ipv4]
          addresses: [192.0.2.5/24, {192.0.2.6/24: {label: "e0:1", lifetime: 0}}]
          nameservers: {addresses: [9.9.9.9], search: [example.org]}
          networkmanager: {name: x, passthrough: {connection.zone: home}}
          openvswitch: {external-ids: {a: b}}
          routes: [{to: 198.51.100.0/24, via: 192.0.2.1, metric: 5, type: unicast, scope: global}]
          routing-policy: [{from: 192.0.2.5/32, table: 100}]
        e1:
          auth: {key-management: 802.1x, method: tls, identity: me, password: SECRETA, client-key-password: SECRETB}
      wifis:
        w0: {access-points: {net: {password: SECRETC}}, dhcp4: true}
      tunnels:
        wg0: {mode: wireguard, key: SECRETD, addresses: [10.5.0.1/24]}
      dummy-devices:
        d0: {addresses: [10.3.0.1/32]}
      bonds:
        b0:
          interfaces: [p0, p1]
          parameters: {mode: active-backup, primary: p0, arp-ip-targets: [10.0.0.1], arp-interval: 100, arp-validate: all}
          addresses: [10.0.0.2/24]
      vlans:
        v0: {link: b0, id: 7, addresses: [10.1.0.2/24]}
      bridges:
        br0: {interfaces: [e1], parameters: {stp: true, forward-delay: 4, path-cost: {e1: 50}}}
    names: {p0: ent0, p1: ent1, e0: ent2, e1: ent3}
    sysctl: {net.ipv4.tcp_rmem: "4096 131072 33554432", net.ipv4.tcp_congestion_control: bbr, net.core.default_qdisc: fq}
    bonding: {b0: {num_grat_arp: "4", ns_ip6_target: "2001:db8::9"}}
    links: {e0: {offloads: {gro: on, tx-nocache-copy: off}, rings: {rx: 4096}, channels: {combined: 4}, coalesce: {rx-usecs: 17, adaptive-rx: on}, qdisc: fq maxrate 10gbit}}
    multipath: [{to: 172.16.0.0/12, table: 102, metric: 5, hops: [{via: 192.0.2.1, dev: e0}, {via: 10.0.0.1, dev: b0, weight: 3}]}]
    mptcp: {subflows: 8, endpoints: [{address: 192.0.2.5, dev: e0, flags: [subflow]}]}
    source_rules: [b0]
    profiles: [security]
    absent: [bond9]
`

// smuggled is what no output may have as a line, a key or a command of its own.
const smuggled = "SMUGGLED"

// payloads try to leave the place that they stand in: a line more, a section
// more, the end of a quoted word, a command within one, a line joined to the
// next, a way out of a directory.
var payloads = []string{
	"x\n" + smuggled + "=1\nx", "x\r\n[" + smuggled + "]\nx=1", "x\n" + smuggled + ": {}\n", "x\u0085" + smuggled, "x\u2028" + smuggled + "=1",
	"$(" + smuggled + ")", "`" + smuggled + "`", "x; " + smuggled, "x' ; " + smuggled + " '", `x" ; ` + smuggled + ` "`, "x\n" + smuggled, "x # " + smuggled, `x\`,
	"../../../" + smuggled, "/" + smuggled + "/x", "${" + smuggled + "}", "x && " + smuggled, "-" + smuggled, "x | " + smuggled, "x}, " + smuggled + ": {a: b",
}

// TestRenderKeepsTextInPlace puts each payload in place of the texts of a
// fabric, names and values alike, and looks for it as something of its own in
// every format's files.
func TestRenderKeepsTextInPlace(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	base, err := yamldoc.Parse("base", []byte(injectBase))
	if err != nil {
		t.Fatal(err)
	}
	var free []string // the places that take any text
	eachText(base, "", func(at string, _ *string) {
		if _, err := fabric.Parse("base.yaml", []byte(yamldoc.Write(replaced(base, "odd 'text", at)))); err == nil {
			free = append(free, at)
		}
	})
	if len(free) < 15 {
		t.Errorf("only %d places take any text: %q", len(free), free)
	}
	for _, payload := range payloads {
		var places []string // at once, as far as the file is still one
		for _, place := range free {
			with := append(slices.Clone(places), place)
			if _, err := fabric.Parse("base.yaml", []byte(yamldoc.Write(replaced(base, payload, with...)))); err == nil {
				places = with
			}
		}
		inject(t, base, payload, places)
	}
}

func replaced(base *yamldoc.Node, payload string, places ...string) *yamldoc.Node {
	tree := base.Clone()
	eachText(tree, "", func(at string, s *string) {
		if slices.Contains(places, at) {
			*s = payload
		}
	})
	return tree
}

// inject renders the fabric with the payload in the places, unless the payload
// is refused before.
func inject(t *testing.T, base *yamldoc.Node, payload string, places []string) {
	t.Helper()
	file, err := fabric.Parse("base.yaml", []byte(yamldoc.Write(replaced(base, payload, places...))))
	if err != nil {
		return
	}
	in, _, err := InputOf(file, file.Hosts[0].Name)
	if err != nil {
		return
	}
	for _, format := range formats.All() {
		out, err := Whole(format, in)
		if err != nil {
			continue
		}
		for _, f := range out.Files {
			if what := escaped(format, f, payload); what != "" {
				t.Errorf("%q: %s: %s: %s\n%s", payload, format, f.Path, what, around(f.Text))
			}
		}
	}
}

// eachText calls do with every key and value of a tree and where it is.
func eachText(n *yamldoc.Node, at string, do func(at string, s *string)) {
	switch n.Kind {
	case yamldoc.ScalarNode:
		do(at, &n.Text)
		n.Quoted = n.Quoted || strings.ContainsAny(n.Text, "\n\r")
	case yamldoc.MappingNode:
		for i := range n.Pairs {
			below := at + "." + n.Pairs[i].Key
			do(below+" (key)", &n.Pairs[i].Key)
			eachText(n.Pairs[i].Value, below, do)
		}
	case yamldoc.SequenceNode:
		for i, item := range n.Items {
			eachText(item, fmt.Sprintf("%s[%d]", at, i), do)
		}
	}
}

// escaped says how a payload acts in a file; "" where it does not.
func escaped(format render.Format, f render.File, payload string) string {
	if path.Clean(f.Path) != f.Path || strings.Contains(f.Path, "SMUGGLED/") || strings.Count(f.Path, "/") > 5 {
		return "the payload is part of the path"
	}
	if strings.ContainsAny(f.Path, "\n\r$`'\" ;") {
		return "no path for a file"
	}
	if strings.HasSuffix(f.Path, ".yaml") || strings.HasSuffix(f.Path, ".yml") {
		return keyIn(f, payload)
	}
	for _, line := range strings.FieldsFunc(f.Text, func(r rune) bool { return r == '\n' || r == '\r' || r == '\u0085' || r == '\u2028' }) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, smuggled) || strings.HasPrefix(line, "["+smuggled) {
			return "a line of its own"
		}
		if strings.HasSuffix(line, `\`) && strings.HasPrefix(f.Path, "/etc/systemd/network/") {
			return "a line goes on in the next: " + line
		}
	}
	shell := strings.HasPrefix(f.Text, "#!") || strings.HasPrefix(f.Path, "/etc/sysconfig/") || f.Path == "/etc/rc.conf"
	if shell && !strings.Contains(f.Path, "/route") && !strings.Contains(f.Path, "/rule") {
		return inShell(f.Text)
	}
	return ""
}

// keyIn finds a payload as a key of YAML; the input's own names stay keys.
func keyIn(f render.File, payload string) string {
	tree, err := yamldoc.Parse(f.Path, []byte(f.Text))
	if err != nil {
		return err.Error()
	}
	found := ""
	eachText(tree, "", func(at string, s *string) {
		if strings.HasSuffix(at, "(key)") && strings.TrimSpace(*s) == smuggled && payload != smuggled {
			found = "a key of its own: " + at
		}
	})
	return found
}

// inShell finds a payload where a shell reads it as more than a word: outside
// single quotes and comments with what ends a word, or in double quotes with
// what expands.
func inShell(text string) string {
	quote, comment := byte(0), false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case comment:
			comment = c != '\n'
			continue
		case quote == 0 && c == '\\':
			i++
			continue
		case quote == 0 && c == '#' && (i == 0 || strings.ContainsRune(" \t\n;", rune(text[i-1]))):
			comment = true
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == '"' && c == '\\':
			i++
			continue
		case c == quote:
			quote = 0
		}
		rest := text[i:]
		if quote != '\'' && (strings.HasPrefix(rest, "$("+smuggled) || strings.HasPrefix(rest, "`"+smuggled) || strings.HasPrefix(rest, "${"+smuggled)) {
			return "a shell expands it"
		}
		if quote == 0 {
			for _, end := range []string{"; ", "&& ", "| ", "# "} {
				if strings.HasPrefix(rest, end+smuggled) {
					return "a shell runs it"
				}
			}
		}
	}
	if quote != 0 {
		return "a quote is open at the end"
	}
	return ""
}

// around is the text near the payload.
func around(text string) string {
	i := strings.Index(text, smuggled)
	if i < 0 {
		return ""
	}
	return text[max(0, i-120):min(len(text), i+80)]
}

// TestRenderKeepsSecrets holds keys and passwords, which the file may carry in
// keys that nothing here reads, to files that root alone reads.
func TestRenderKeepsSecrets(t *testing.T) {
	file, err := fabric.Parse("base.yaml", []byte(injectBase))
	if err != nil {
		t.Fatal(err)
	}
	in, _, err := InputOf(file, "h")
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, format := range formats.All() {
		out, err := Whole(format, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range out.Files {
			if strings.Contains(f.Text, "SECRET") && f.Mode&0o077 != 0 {
				t.Errorf("%s: %s has mode %04o and holds a password", format, f.Path, f.Mode)
			}
			if strings.Contains(f.Text, "SECRET") {
				kept++
			}
		}
		for _, w := range out.Warnings {
			if strings.Contains(w.String(), "SECRET") {
				t.Errorf("%s: a warning shows a password: %s", format, w)
			}
		}
	}
	if kept == 0 {
		t.Error("no file has the passwords: the test tries nothing")
	}
}
