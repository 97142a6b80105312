package ifcfg

import (
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// suffixOf is what stands behind ifcfg- in a file's name; "" for another file.
func suffixOf(file string) string {
	suffix, _ := strings.CutPrefix(path.Base(file), "ifcfg-")
	return suffix
}

// devices are the readers of the files that each make a device, by file. Of several for
// one device one is read: that which is brought up at boot, then the one with the
// device's name, then the first.
func devices(f *readback.Host, files map[string]string) (all []*reader, warnings []render.Warning) {
	rank := func(r *reader) int {
		n := 0
		if on := r.values["ONBOOT"].Value; on == "" || r.truth("ONBOOT") {
			n += 2
		}
		if suffixOf(r.file) == r.id {
			n++
		}
		return n
	}
	best := map[string]*reader{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		suffix := suffixOf(file)
		if !strings.HasPrefix(path.Base(file), "ifcfg-") || !ours(file) || isBackup(suffix) || strings.Contains(suffix, ":") || ranges.MatchString(suffix) {
			continue
		}
		r := newReader(f, file, files[file])
		if suffix == "lo" {
			r.loopback()
			continue
		}
		switch _, err := flow.ParseMAC(strings.ToLower(r.values["HWADDR"].Value)); {
		case r.get("DEVICE") != "":
			r.id = r.get("DEVICE")
		case err == nil && readback.PrintableName(suffix):
			r.id = suffix // a name for the definition alone: the address finds the device
		default:
			if r.id = suffix; path.Dir(file)+"/" == Dir && r.values["TYPE"].Value != "" && readback.LinkName(suffix) {
				warnings = append(warnings, render.Warning{Format: render.FormatIfcfg, Where: suffix, Key: "DEVICE",
					Why: file + ":1: is not said, and no HWADDR: it is read as the file's name, where NetworkManager takes the file for every device of its type"})
			}
		}
		if !readback.LinkName(r.id) && (r.get("DEVICE") != "" || r.id != suffix || !readback.PrintableName(suffix) || r.values["HWADDR"].Key == "") {
			f.Miss(file, max(r.values["DEVICE"].Line, 1), "DEVICE", r.id, "is no interface's name, and no HWADDR finds one: the file is not read")
			continue
		}
		if other := best[r.id]; other == nil || rank(r) > rank(other) {
			best[r.id] = r
		}
		all = append(all, r)
	}
	return slices.DeleteFunc(all, func(r *reader) bool {
		if best[r.id] == r {
			return false
		}
		f.Miss(r.file, max(r.values["DEVICE"].Line, 1), "DEVICE", r.id, path.Base(best[r.id].file)+" is read for this device: this file is not")
		return true
	}), warnings
}

// loopback notes the addresses that lo has beside the system's own.
func (r *reader) loopback() {
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		if !strings.HasPrefix(key, "IPADDR") && key != "IPV6ADDR" && key != "IPV6ADDR_SECONDARIES" {
			continue
		}
		for _, word := range strings.Fields(r.values[key].Value) {
			word, _, _ = strings.Cut(word, "/")
			if a, err := netip.ParseAddr(word); err != nil || !a.IsLoopback() {
				r.wrong(key, "addresses of lo are not read")
			}
		}
	}
}

// hostwide reads the files that are no device's: RHEL's /etc/sysconfig/network, which
// initscripts read before each device's file, and SUSE's routes and settings.
func hostwide(f *readback.Host, own []*reader, files map[string]string) {
	for _, file := range slices.Sorted(maps.Keys(files)) {
		switch base := path.Base(file); {
		case !ours(file) && file != strings.TrimSuffix(SUSEDir, "/"):
			continue
		case base == "routes":
			suseRoutes(f, own, file, "", files[file])
		case base == "network":
			newReader(f, file, files[file]).gateways(own)
		case base == "static-routes":
			for i, line := range strings.Split(files[file], "\n") {
				if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
					f.Miss(file, i+1, base, strings.TrimSpace(line), "is not read: write it into a route- file")
				}
			}
		case base == "config" && path.Dir(file)+"/" == SUSEDir:
			r := newReader(f, file, files[file])
			for _, key := range []string{"NETCONFIG_DNS_STATIC_SEARCHLIST", "NETCONFIG_DNS_STATIC_SERVERS"} {
				if r.get(key) != "" {
					r.wrong(key, "name servers of the host are not read: a fabric has them by device")
				}
			}
		default:
			continue
		}
		f.Mark(file, files[file], 1, strings.Count(files[file], "\n")+1)
	}
}

// hostKeys are those of /etc/sysconfig/network that say nothing of a device.
var hostKeys = []string{"NETWORKING", "HOSTNAME", "NISDOMAIN", "NOZEROCONF", "VLAN", "NETWORKING_IPV6", "NM_BOND_VLAN_ENABLED", "NTPSERVERARGS", "IPV6INIT", "IPV6_AUTOCONF", "FORWARD_IPV4"}

// gateways reads /etc/sysconfig/network: a gateway is the default route of the device
// that it names, else of the one in whose network it lies (ifup-eth of initscripts).
func (r *reader) gateways(own []*reader) {
	for _, keys := range [][2]string{{"GATEWAY", "GATEWAYDEV"}, {"IPV6_DEFAULTGW", "IPV6_DEFAULTDEV"}} {
		text, device, _ := strings.Cut(r.get(keys[0]), "%")
		if said := r.get(keys[1]); said != "" {
			device = said
		}
		via, err := netip.ParseAddr(text)
		if text == "" {
			continue
		}
		if err != nil {
			r.wrong(keys[0], "is no address")
			continue
		}
		at := holder(own, via)
		if i := slices.IndexFunc(own, func(o *reader) bool { return o.id == device }); device != "" {
			at = nil
			if i >= 0 {
				at = own[i]
			}
		}
		switch {
		case at == nil:
			r.wrong(keys[0], "no device that is read has it in its network")
		case at.values[keys[0]].Value == "": // its own gateway comes before the host's
			at.gateway(keys[0], text)
		}
	}
	for _, key := range hostKeys {
		r.get(key)
	}
	r.rest(nil)
}

// holder is the device in whose network an address lies; nil none.
func holder(own []*reader, a netip.Addr) *reader {
	for _, r := range own {
		for _, text := range node.Texts(r.Device(r.id).Get("addresses")) {
			if p, err := netip.ParsePrefix(text); err == nil && p.Contains(a) {
				return r
			}
		}
	}
	return nil
}

// suseRoutes reads a file ifroute-NAME, or routes, which is no device's: destination,
// gateway, mask and interface, of which - says nothing, and options in ip-route(8)'s
// words (routes(5) of wicked).
func suseRoutes(f *readback.Host, own []*reader, file, of, text string) {
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		for len(fields) < 4 {
			fields = append(fields, "-")
		}
		to := fields[0]
		if bits, ok := readback.DottedLength(fields[2]); ok && !strings.Contains(to, "/") {
			to += "/" + strconv.Itoa(bits)
		}
		words := []string{to}
		if fields[1] != "-" {
			words = append(words, "via", fields[1])
		}
		if fields[3] != "-" {
			words = append(words, "dev", fields[3])
		}
		r, why := routeOwner(f, own, file, of, fields)
		if why == "" {
			why = r.route(append(words, fields[4:]...), !strings.Contains(to+fields[1], ":"))
		}
		if why != "" {
			f.Miss(file, i+1, strings.Split(path.Base(file), "-")[0], strings.TrimSpace(line), why)
		}
	}
}

// routeOwner is the device of a line of SUSE's routes; why is what was wrong.
func routeOwner(f *readback.Host, own []*reader, file, of string, fields []string) (r *reader, why string) {
	if of != "" {
		return &reader{Host: f, file: file, id: of}, ""
	}
	if dev := fields[3]; dev != "-" {
		if !slices.ContainsFunc(own, func(r *reader) bool { return r.id == dev }) {
			return nil, "leaves by " + dev + ", of which no file is read"
		}
		return &reader{Host: f, file: file, id: dev}, ""
	}
	via, err := netip.ParseAddr(fields[1])
	if at := holder(own, via); err == nil && at != nil {
		return &reader{Host: f, file: file, id: at.id}, ""
	}
	return nil, fmt.Sprintf("no device that is read has %s in its network", fields[1])
}

// suseRules reads a file ifrule-NAME: rules in ip-rule(8)'s words, a family before them.
func (r *reader) suseRules(text string) {
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		four := !strings.Contains(line, ":")
		if words[0] == "ipv4" || words[0] == "ipv6" {
			four, words = words[0] == "ipv4", words[1:]
		}
		if why := r.rule(words, four); why != "" {
			r.Miss(r.file, i+1, "ifrule", strings.TrimSpace(line), why)
		}
	}
}
