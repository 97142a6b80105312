package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/ledger"
	"pgregory.net/rapid"
)

// drawnHost is a fabric with one host, as users write them.
func drawnHost(t *rapid.T) string {
	pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	var b strings.Builder
	b.WriteString("linerate: v1\nhosts:\n  h:\n    profiles: []\n    network:\n      version: 2\n      ethernets:\n")
	mtu := pick("port mtu", "", "mtu: 9000")
	fmt.Fprintf(&b, "        p0: {%s}\n        p1: {%s}\n", mtu, mtu)
	fmt.Fprintf(&b, "        eth0:\n          addresses: [%s]\n", pick("addresses", "192.0.2.5/24", "192.0.2.5/24, 192.0.2.6/24", `192.0.2.5/24, "2001:db8::5/64"`, `"2001:db8::5/64", "2001:db8::6/64"`))
	for _, line := range []string{
		pick("dhcp", "", "dhcp4: true"), pick("dhcp metric", "", "dhcp4-overrides: {route-metric: 700}"), pick("mtu", "", "mtu: 1400"), pick("ra", "", "accept-ra: false", "accept-ra: true"),
		pick("mac", "", `macaddress: "02:00:00:00:00:09"`), pick("dns", "", "nameservers: {addresses: [9.9.9.9, 149.112.112.112], search: [a.example, b.example]}"),
	} {
		if line != "" && (line[:4] != "dhcp" || !strings.Contains(line, "overrides") || strings.Contains(b.String(), "dhcp4: true")) {
			b.WriteString("          " + line + "\n")
		}
	}
	if strings.Contains(b.String(), "192.0.2.5") {
		var routes, rules []string
		for i := range rapid.IntRange(0, 3).Draw(t, "routes") {
			routes = append(routes, fmt.Sprintf("{to: %s, %s%s%s}", pick("to", "default", fmt.Sprintf("10.%d.0.0/16", i+20), fmt.Sprintf("10.%d.0.7/32", i+30)),
				pick("via", "via: 192.0.2.1", "via: 192.0.2.5", "via: 10.99.0.1, on-link: true", "scope: link"), fmt.Sprintf(", metric: %d", 100+i), pick("more", "", ", table: 101", ", mtu: 1300", ", from: 192.0.2.5")))
		}
		for i := range rapid.IntRange(0, 2).Draw(t, "rules") {
			rules = append(rules, fmt.Sprintf("{%s, table: 101, priority: %d}", pick("rule", "from: 192.0.2.5/32", "to: 10.7.0.0/16", "from: 192.0.2.5/32, to: 10.8.0.0/16", "from: 192.0.2.0/24, mark: 7"), 100+i))
		}
		if routes != nil {
			b.WriteString("          routes: [" + strings.Join(routes, ", ") + "]\n")
		}
		if rules != nil {
			b.WriteString("          routing-policy: [" + strings.Join(rules, ", ") + "]\n")
		}
	}
	mode := pick("mode", "802.3ad", "active-backup", "balance-rr", "balance-xor", "balance-tlb")
	options := []string{"mode: " + mode, "mii-monitor-interval: " + pick("miimon", "50", "100")}
	switch mode {
	case "802.3ad":
		options = append(options, pick("lacp", "lacp-rate: fast", "lacp-rate: slow", "min-links: 1"), pick("hash", "transmit-hash-policy: layer3+4", "transmit-hash-policy: layer2+3"), pick("select", "ad-select: bandwidth", "down-delay: 200"))
	case "active-backup":
		options = append(options, pick("ab", "primary: p1", "fail-over-mac-policy: active", "primary-reselect-policy: failure", "gratuitous-arp: 3"))
	case "balance-rr":
		options = append(options, pick("rr", "packets-per-member: 4", "up-delay: 100"))
	}
	fmt.Fprintf(&b, "      bonds:\n        b0: {interfaces: [p0, p1], %sparameters: {%s}}\n", pick("bond mtu", "", "mtu: 9000, "), strings.Join(options, ", "))
	fmt.Fprintf(&b, "      vlans:\n        %s: {id: 7, link: b0, addresses: [10.1.0.2/24]}\n", pick("vlan", "lan", "b0.7"))
	return b.String()
}

// TestRoundTrip writes drawn hosts in each format that is read back, writes
// again over that, and reads them: nothing changes the second time, and every
// wish is read again unless a warning or the reader names it.
func TestRoundTrip(t *testing.T) {
	formats := []render.Format{render.FormatNetplan, render.FormatNetworkd, render.FormatIfcfg, render.FormatKeyfile, render.FormatIfupdown, render.FormatNmstate}
	rapid.Check(t, func(t *rapid.T) {
		text := drawnHost(t)
		in, err := oneHost(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, format := range []render.Format{rapid.SampledFrom(formats).Draw(t, "format")} {
			out, err := Write(format, in)
			if err != nil {
				t.Fatalf("%s: %v\n%s", format, err, text)
			}
			files := map[string]string{}
			for _, f := range out.Files {
				files[f.Path] = f.Text
			}
			over := in
			over.Old = files
			again, err := Write(format, over)
			if err != nil {
				t.Fatalf("%s again: %v", format, err)
			}
			for _, f := range again.Files {
				if diff := cmp.Diff(files[f.Path], f.Text); diff != "" {
					t.Fatalf("%s: %s changes the second time (-first +second):\n%s\n%s", format, f.Path, diff, text)
				}
			}
			found, err := Read(format, files)
			if err != nil {
				t.Fatalf("%s: %v\n%s", format, err, text)
			}
			back, err := oneHost(string(found.FabricFile("h")))
			if err != nil {
				t.Fatalf("%s: %v\n%s", format, err, found.FabricFile("h"))
			}
			for _, lost := range lostEntries(in, back) {
				if format == render.FormatKeyfile && lost.Key == "accept-ra" {
					continue // method=auto takes both, and is read as dhcp6; the other methods take none
				}
				if !named(lost, out, found) {
					t.Fatalf("%s: %s %s of %s is lost\n%s\nread back:\n%s\nwarnings: %v\nunread: %v", format, lost.Key, lost.Value, lost.Where, text, found.FabricFile("h"), out.Warnings, found.Unread)
				}
			}
		}
	})
}

func oneHost(text string) (render.Input, error) {
	file, err := fabric.Parse("f.yaml", []byte(text))
	if err != nil {
		return render.Input{}, err
	}
	host, _ := file.Host("h")
	state, err := file.State("h")
	return render.Input{Host: host, State: state}, err
}

// lostEntries are those of the first that the second has not. The order of
// routes and rules may differ.
func lostEntries(want, have render.Input) []ledger.Entry {
	var lost []ledger.Entry
	with := map[[3]string]int{}
	for _, w := range ledger.Entries(have) {
		with[[3]string{w.Where, numberless(w.Key), w.Value}]++
	}
	for _, w := range ledger.Entries(want) {
		key := [3]string{w.Where, numberless(w.Key), w.Value}
		if with[key]--; with[key] < 0 {
			lost = append(lost, w)
		}
	}
	return lost
}

// numberless is a key without its index.
func numberless(key string) string {
	before, after, found := strings.Cut(key, "[")
	if !found {
		return key
	}
	_, after, _ = strings.Cut(after, "]")
	return before + after
}

func named(lost ledger.Entry, out render.Output, found render.Found) bool {
	for _, w := range out.Warnings {
		if w.Where == lost.Where && (strings.HasPrefix(lost.Key, w.Key) || strings.HasPrefix(w.Key, lost.Key)) {
			return true
		}
	}
	for _, u := range found.Unread {
		if strings.Contains(u.Key+u.Value, lost.Value) {
			return true
		}
	}
	return false
}

// TestReadOnlyRoundTrip: what is read of formats that nobody writes is a host like any
// other: each format writes it and reads the same links, bonds and addresses back.
func TestReadOnlyRoundTrip(t *testing.T) {
	for name, from := range map[string]render.Format{"teamd": render.FormatTeamd, "ifcfg-team": render.FormatIfcfg, "talos-documents.yaml": render.FormatTalos} {
		host, _ := readBack(t, from, fieldFiles(t, name))
		first, err := fabric.Fabric{Hosts: []fabric.Host{host}}.State("a")
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []render.Format{render.FormatNetplan, render.FormatNetworkd, render.FormatIfcfg, render.FormatKeyfile, render.FormatIfupdown, render.FormatNmstate} {
			out, err := Write(to, render.Input{Host: host, State: first})
			if err != nil {
				t.Errorf("%s to %s: %v", name, to, err)
				continue
			}
			back, unread := readBack(t, to, byPath(out.Files))
			again, err := fabric.Fabric{Hosts: []fabric.Host{back}}.State("a")
			if err != nil || len(unread) > 0 {
				t.Errorf("%s to %s and back: %v, unread %v", name, to, err, unread)
			}
			for _, want := range first.Links {
				got, _ := again.Link(want.Name)
				if want.Bond == nil {
					if want.Addresses == nil {
						continue // a port, which a format may call by its address
					}
					if !slices.Equal(got.Addresses, want.Addresses) || got.MTU != want.MTU {
						t.Errorf("%s to %s and back: %s is %v MTU %d, want %v MTU %d", name, to, want.Name, got.Addresses, got.MTU, want.Addresses, want.MTU)
					}
					continue
				}
				if got.Bond == nil || got.Bond.Mode != want.Bond.Mode || got.Bond.HashPolicy != want.Bond.HashPolicy || got.Bond.LACPRate != want.Bond.LACPRate ||
					got.Bond.Miimon != want.Bond.Miimon || len(got.Bond.Ports) != len(want.Bond.Ports) || !slices.Equal(got.Addresses, want.Addresses) {
					t.Errorf("%s to %s and back: %s is %+v, want %+v", name, to, want.Name, got.Bond, want.Bond)
				}
			}
		}
	}
}
