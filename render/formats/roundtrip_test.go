package formats

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"pgregory.net/rapid"
)

// writtenAndRead are the formats that are written and read back.
func writtenAndRead() []render.Format {
	return slices.DeleteFunc(Readable(), func(f render.Format) bool { return !slices.Contains(All(), f) })
}

// TestRoundTrip writes 48 drawn hosts in each format that is read back, writes
// again over that, and reads them: nothing changes the second time, and every
// wish is read again unless a warning or the reader names it.
func TestRoundTrip(t *testing.T) {
	hosts := 48
	if testing.Short() {
		t.Log("left out by -short: 40 of the 48 hosts")
		hosts = 8
	}
	for i := range hosts {
		text := drawn(t, i)
		in, err := oneHost(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, format := range writtenAndRead() {
			roundTrip(t, format, in, text)
		}
	}
}

// drawn is a drawn host by its number, another set for each RAPID_SEED.
func drawn(t *testing.T, number int) string {
	seed := 0
	if said := os.Getenv("RAPID_SEED"); said != "" {
		n, err := strconv.ParseUint(said, 10, 64)
		if err != nil {
			t.Fatalf("RAPID_SEED: %v", err)
		}
		seed = int(n % 1_000_000 * 1000)
	}
	return rapid.Custom(drawnHost).Example(seed + number)
}

func roundTrip(t *testing.T, format render.Format, in render.Input, text string) {
	t.Helper()
	out, err := Write(format, in)
	if err != nil {
		t.Errorf("%s: %v\n%s", format, err, text)
		return
	}
	files := byPath(out.Files)
	over := in
	over.Old = files
	again, err := Write(format, over)
	if err != nil {
		t.Errorf("%s again: %v", format, err)
		return
	}
	for _, f := range again.Files {
		if diff := cmp.Diff(files[f.Path], f.Text); diff != "" {
			t.Errorf("%s: %s changes the second time (-first +second):\n%s\n%s", format, f.Path, diff, text)
		}
	}
	found, err := Read(format, files)
	if err != nil {
		t.Errorf("%s: %v\n%s", format, err, text)
		return
	}
	back, err := oneHost(string(found.FabricFile("h")))
	if err != nil {
		t.Errorf("%s: %v\n%s", format, err, found.FabricFile("h"))
		return
	}
	for _, lost := range lostEntries(format, in, back) {
		if !named(lost, out, found) {
			t.Errorf("%s: %s %s of %s is lost\n%s\nread back:\n%s\nwarnings: %v\nunread: %v\nwritten:\n%s",
				format, lost.Key, lost.Value, lost.Where, text, found.FabricFile("h"), out.Warnings, found.Unread, golden(out))
		}
	}
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

// lostEntries are those of the first whose meaning the second has not. The order of
// routes and rules may differ.
func lostEntries(format render.Format, want, have render.Input) []ledger.Entry {
	var lost []ledger.Entry
	with, said := map[ledger.Entry]int{}, map[[2]string]bool{}
	for _, h := range entries(have) {
		h = meaning(format, h)
		with[h]++
		said[[2]string{h.Where, h.Key}] = true
	}
	for _, w := range entries(want) {
		m := meaning(format, w)
		if w.Where == m.Where { // what became the host's is once there for all devices
			with[m]--
		} else if with[m] == 0 {
			with[m] = -1
		}
		if with[m] < 0 && !(isUsual(format, want, m) && !said[[2]string{m.Where, m.Key}]) {
			lost = append(lost, w)
		}
	}
	return lost
}

// mainTable is the kernel's number of the table that routes are in by themselves.
const mainTable = 254

// entries are what a file wants of a host, with each route, rule and endpoint as a whole.
func entries(in render.Input) []ledger.Entry {
	var all []ledger.Entry
	for _, e := range ledger.Entries(in) {
		switch {
		case strings.HasPrefix(e.Key, "sysctl."): // the sysctl format's, which is not read back
		case strings.HasPrefix(e.Key, "nameservers."):
			for _, word := range strings.Fields(e.Value) {
				all = append(all, ledger.Entry{Where: e.Where, Key: e.Key, Value: word})
			}
		default:
			all = append(all, e)
		}
	}
	for _, d := range in.Host.Network.Devices() {
		for i, r := range d.Routes {
			if slices.ContainsFunc(d.Addresses, func(a netip.Prefix) bool { return a.Addr() == r.Via }) {
				r.Via, r.Scope = netip.Addr{}, "link" // directly reachable
			}
			if r.Scope == "link" && !r.Via.IsValid() {
				r.Scope = "" // what a route without a next hop has
			}
			if r.Table == mainTable {
				r.Table = 0 // what no table is
			}
			all = append(all, ledger.Entry{Where: d.ID, Key: fmt.Sprintf("routes[%d].", i), Value: fmt.Sprint(r.To, r.Via, r.From, r.OnLink, r.Metric, r.Table, r.Type, r.Scope, r.MTU)})
		}
		for i, r := range d.Rules {
			all = append(all, ledger.Entry{Where: d.ID, Key: fmt.Sprintf("routing-policy[%d].", i), Value: fmt.Sprint(r)})
		}
	}
	for i, m := range in.Host.Multipath {
		if m.Table == mainTable {
			m.Table = 0
		}
		all = append(all, ledger.Entry{Key: fmt.Sprintf("multipath[%d].", i), Value: fmt.Sprint(m)})
	}
	if m := in.Host.MPTCP; m != nil {
		for i, e := range m.Endpoints {
			all = append(all, ledger.Entry{Key: fmt.Sprintf("mptcp.endpoints[%d].", i), Value: fmt.Sprint(e)})
		}
	}
	return all
}

// meaning is an entry under the one of its names, without its number.
func meaning(format render.Format, e ledger.Entry) ledger.Entry {
	e.Key = numberless(e.Key)
	for _, row := range device.Offloads {
		if e.Key == row.Netplan {
			on, _ := strconv.ParseBool(e.Value)
			e.Key, e.Value = "offloads."+row.Ethtool, device.OnOff(on)
		}
	}
	if format == render.FormatNmstate && (strings.HasPrefix(e.Key, "rout") || strings.HasPrefix(e.Key, "nameservers")) {
		e.Where = "" // the host's there
	}
	return e
}

// isUsual reports what a device has where a file says nothing of it.
func isUsual(format render.Format, in render.Input, e ledger.Entry) bool {
	_, physical := in.Host.Network.Ethernet(e.Where)
	switch e.Key + " " + e.Value {
	case "accept-ra true", "wakeonlan false", "queue_id 0", "port_prio 0":
		return true
	case "ignore-carrier true":
		return !physical // netplan's own for virtual devices
	case "optional true":
		for _, d := range in.Host.Network.Devices() {
			if d.ID == e.Where {
				return slices.ContainsFunc(d.Unread, func(p yamldoc.Pair) bool { return p.Key == "activation-mode" }) // nobody waits for it
			}
		}
	case "accept-ra false":
		// Without method=auto nothing is taken; nmstate says it but where IPv6 is off.
		return format == render.FormatKeyfile || format == render.FormatNmstate
	}
	return false
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
		if w.Where == lost.Where && (strings.HasPrefix(lost.Key, w.Key) || strings.HasPrefix(w.Key, lost.Key) || strings.Contains(w.Why, "; with it ") && strings.Contains(w.Why, lost.Key)) {
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
