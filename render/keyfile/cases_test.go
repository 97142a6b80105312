package keyfile

import (
	"strings"
	"testing"
)

// Peers 6: search domains of a device with IPv4 alone stand in [ipv4] alone:
// NetworkManager does not load a connection that has them beside link-local IPv6.
// The program itself reads what is written.
func TestKeyfileSearchWithoutIPv6(t *testing.T) {
	for name, network := range map[string]string{
		"IPv4 alone":             "addresses: [192.0.2.10/24], nameservers: {addresses: [192.0.2.53], search: [example.net]}",
		"search alone":           "addresses: [192.0.2.10/24], nameservers: {search: [example.net, example.org]}",
		"IPv6 servers":           "addresses: [192.0.2.10/24], nameservers: {addresses: [192.0.2.53, '2001:db8::53'], search: [example.net]}",
		"IPv6 alone":             "addresses: ['2001:db8::10/64'], nameservers: {addresses: ['2001:db8::53'], search: [example.net]}",
		"both":                   "addresses: [192.0.2.10/24, '2001:db8::10/64'], nameservers: {addresses: [192.0.2.53, '2001:db8::53'], search: [example.net]}",
		"link-local both":        "addresses: [192.0.2.10/24], link-local: [ipv4, ipv6], nameservers: {addresses: [192.0.2.53], search: [example.net]}",
		"DHCP, no link-local":    "dhcp4: true, link-local: [], nameservers: {search: [example.net]}",
		"no address of any kind": "nameservers: {addresses: [192.0.2.53], search: [example.net]}",
	} {
		t.Run(name, func(t *testing.T) {
			text := "linerate: v1\nhosts: {h: {network: {version: 2, ethernets: {eno1: {" + network + "}}}}}\n"
			out := written(t, inputOf(t, "f.yaml", text, "h"))
			section := ""
			for line := range strings.Lines(out.Files[0].Text) {
				if strings.HasPrefix(line, "[") {
					section = strings.TrimSpace(line)
				}
				if strings.HasPrefix(line, "dns") && section == "[ipv6]" && !strings.Contains(network, "2001:db8::10") {
					t.Errorf("in [ipv6]: %s", line)
				}
			}
			if said := len(out.Warnings) > 0; !said && (name == "no address of any kind" || name == "IPv6 servers") {
				t.Error("what no family can have is left out without a word")
			}
			got, complaints := networkManager(t, out.Files)
			if got["eno1.nmconnection"] == nil || len(complaints) > 0 {
				t.Errorf("NetworkManager does not load it: %q\n%s", complaints, out.Files[0].Text)
			}
			if strings.Contains(network, "192.0.2.10/24") && !strings.Contains(got["eno1.nmconnection"]["ipv4.dns-search"], "example.net") {
				t.Errorf("IPv4 searches %q", got["eno1.nmconnection"]["ipv4.dns-search"])
			}
		})
	}
}

// Peers 12f: flags are the connection's, so its other addresses are endpoints too.
func TestKeyfileEndpointsOfAllAddresses(t *testing.T) {
	const text = "linerate: v1\nhosts: {h: {network: {version: 2, ethernets: {eno1: {addresses: [192.0.2.10/24, 192.0.2.11/24]}}}, mptcp: {endpoints: [%s]}}}\n"
	for endpoints, warned := range map[string]bool{"{address: 192.0.2.10, flags: [subflow]}": true, "{address: 192.0.2.10, flags: [subflow]}, {address: 192.0.2.11, flags: [subflow]}": false} {
		out := written(t, inputOf(t, "f.yaml", strings.Replace(text, "%s", endpoints, 1), "h"))
		found := false
		for _, w := range out.Warnings {
			found = found || w.Key == "mptcp.endpoints" && strings.Contains(w.Why, "192.0.2.11")
		}
		if found != warned {
			t.Errorf("%s: warned %v: %+v", endpoints, found, out.Warnings)
		}
	}
}

// Link-local addresses beside others, and DHCP without what routers say: NetworkManager
// itself reads what is written, and it is read back; what it cannot do is a warning.
func TestKeyfileLinkLocal(t *testing.T) {
	for network, want := range map[string]map[string]string{
		"addresses: [192.0.2.10/24], link-local: [ipv4, ipv6]":      {"ipv4.method": "manual", "ipv4.link-local": "enabled", "ipv6.method": "link-local"},
		"dhcp4: true, link-local: [ipv4, ipv6]":                     {"ipv4.method": "auto", "ipv4.link-local": "enabled"},
		"dhcp6: true, accept-ra: false":                             {"ipv6.method": "dhcp"},
		"dhcp6: true":                                               {"ipv6.method": "auto"},
		"addresses: ['2001:db8::10/64'], link-local: []":            {"ipv6.method": "manual", "warning": "always has a link-local address"},
		"addresses: [192.0.2.10/24], link-local: []":                {"ipv6.method": "disabled"},
		"addresses: [192.0.2.10/24], link-local: [ipv6], mtu: 1400": {"ipv4.link-local": "default"},
	} {
		t.Run(network, func(t *testing.T) {
			out := written(t, inputOf(t, "f.yaml", "linerate: v1\nhosts: {h: {network: {version: 2, ethernets: {eno1: {"+network+"}}}}}\n", "h"))
			var warnings string
			for _, w := range out.Warnings {
				warnings += w.Why + "\n"
			}
			if !strings.Contains(warnings, want["warning"]) {
				t.Errorf("no warning %q in %q", want["warning"], warnings)
			}
			got, complaints := networkManager(t, out.Files)
			if len(complaints) > 0 {
				t.Errorf("NetworkManager complains: %q", complaints)
			}
			for key, value := range want {
				if is := got["eno1.nmconnection"][key]; key != "warning" && !strings.Contains(is, value) {
					t.Errorf("%s is %q, want %s", key, is, value)
				}
			}
		})
	}
}
