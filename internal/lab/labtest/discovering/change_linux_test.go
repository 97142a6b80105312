package discovering

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
)

// edit is one change of a fabric file; exact takes away what the file does not
// say.
type edit struct {
	name  string
	exact bool
	text  string
	// needs is what ip or tc must be able to do for it.
	needs string
}

// edits are changes of a discovered file in a drawn order, as its user would
// make them: of each kind one, where it fits.
func edits(r *rand.Rand, text string, f fabric.Fabric) []edit {
	h := f.Hosts[0]
	var devices, ports []string
	for _, b := range h.Network.Bonds {
		ports = append(ports, b.Interfaces...)
	}
	for _, d := range h.Network.Devices() {
		if !slices.Contains(ports, d.ID) {
			devices = append(devices, d.ID)
		}
	}
	if len(devices) == 0 {
		return nil
	}
	on := func() string { return devices[r.IntN(len(devices))] }
	all := []edit{
		{name: "an address more", text: under(text, on(), "addresses", "10.251.0.1/24")},
		{name: "an IPv6 address more", text: under(text, on(), "addresses", `"fd00:251::1/64"`)},
		{name: "another MTU", text: set(text, on(), "mtu", fmt.Sprint(1300+r.IntN(100)))},
		{name: "a route more", text: item(text, on(), "routes", "{to: 10.250.0.0/16, scope: link}")},
		{name: "a blackhole more", text: item(text, on(), "routes", `{to: "fd00:250::/48", type: unreachable, table: 251}`)},
		{name: "a rule more", text: item(text, on(), "routing-policy", "{from: 10.250.0.0/16, mark: 7, table: 77, priority: 7777}")},
		{name: "a link down", text: set(text, on(), "activation-mode", `"off"`)},
		{name: "a sysctl", text: strings.Replace(text, "    sysctl:\n", "    sysctl:\n      net.ipv4.tcp_syn_retries: 4\n", 1)},
		{name: "a queueing discipline", text: hostKey(text, "links: {"+on()+": {qdisc: fq}}"), needs: "tc qdisc replace dev p0 root fq"},
		{name: "a dummy", text: dummy(text), needs: "ip link add try type dummy"},
		{name: "a VLAN", text: vlan(text, on()), needs: "ip link add link p0 try type vlan id 7"},
	}
	if h.MPTCP == nil {
		all = append(all, edit{name: "MPTCP's limits", text: hostKey(text, "mptcp: {subflows: 5}")})
	}
	for _, b := range h.Network.Bonds {
		all = append(all, edit{name: "a bond's monitoring", text: strings.Replace(text, "            mii-monitor-interval: ", "            mii-monitor-interval: 2", 1)})
		if n := len(b.Interfaces); n > 0 {
			list := "interfaces: [" + strings.Join(b.Interfaces, ", ") + "]"
			all = append(all, edit{name: "a port less", text: strings.Replace(text, list, "interfaces: ["+strings.Join(b.Interfaces[:n-1], ", ")+"]", 1)})
		}
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "            - {") {
			fewer := slices.Delete(slices.Clone(lines), i, i+1)
			if at := strings.TrimSpace(lines[i-1]); strings.HasSuffix(at, ":") && !strings.HasPrefix(fewer[i], "            - {") {
				fewer = slices.Delete(fewer, i-1, i)
			}
			all = append(all, edit{name: "less: " + strings.TrimSpace(line), exact: true, text: strings.Join(fewer, "\n")})
		}
		if rest, ok := strings.CutPrefix(line, "          addresses: ["); ok {
			_, others, _ := strings.Cut(strings.TrimSuffix(rest, "]"), ", ")
			fewer := slices.Clone(lines)
			fewer[i] = "          addresses: [" + others + "]"
			all = append(all, edit{name: "an address less: " + rest, exact: true, text: strings.Join(fewer, "\n")})
		}
	}
	all = slices.DeleteFunc(all, func(e edit) bool { return e.text == text || e.text == "" })
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// hostKey adds a line to the one host of a file.
func hostKey(text, line string) string {
	return strings.Replace(text, "    network:\n", "    "+line+"\n    network:\n", 1)
}

func dummy(text string) string {
	if strings.Contains(text, "      dummy-devices:\n") {
		return ""
	}
	return strings.Replace(text, "      version: 2\n", "      version: 2\n      dummy-devices: {dmnew: {addresses: [10.249.0.1/32]}}\n", 1)
}

func vlan(text, on string) string {
	line := "        vnew: {id: 4001, link: " + on + ", addresses: [10.248.0.1/24]}\n"
	if strings.Contains(text, "      vlans:\n") {
		return strings.Replace(text, "      vlans:\n", "      vlans:\n"+line, 1)
	}
	return strings.Replace(text, "      version: 2\n", "      version: 2\n      vlans:\n"+line, 1)
}

// block are the lines of a device: from and to.
func block(lines []string, device string) (from, to int) {
	for i, line := range lines {
		if line != "        "+device+":" && line != "        "+device+": {}" {
			continue
		}
		to := i + 1
		for to < len(lines) && strings.HasPrefix(lines[to], "          ") {
			to++
		}
		return i, to
	}
	return -1, -1
}

// with gives the device's lines to change.
func with(text, device string, change func([]string) []string) string {
	lines := strings.Split(text, "\n")
	from, to := block(lines, device)
	if from < 0 {
		return text
	}
	inside := change(slices.Clone(lines[from+1 : to]))
	return strings.Join(slices.Concat(lines[:from], []string{"        " + device + ":"}, inside, lines[to:]), "\n")
}

// set gives a device's key a value.
func set(text, device, key, value string) string {
	return with(text, device, func(inside []string) []string {
		inside = slices.DeleteFunc(inside, func(line string) bool { return strings.HasPrefix(line, "          "+key+": ") })
		return append(inside, "          "+key+": "+value)
	})
}

// under adds to a list of one line.
func under(text, device, key, value string) string {
	return with(text, device, func(inside []string) []string {
		for i, line := range inside {
			if list, ok := strings.CutPrefix(line, "          "+key+": ["); ok {
				inside[i] = "          " + key + ": [" + strings.TrimSuffix(list, "]") + ", " + value + "]"
				return inside
			}
		}
		return append(inside, "          "+key+": ["+value+"]")
	})
}

// item adds to a list of a line each.
func item(text, device, key, value string) string {
	return with(text, device, func(inside []string) []string {
		if i := slices.Index(inside, "          "+key+":"); i >= 0 {
			return slices.Insert(inside, i+1, "            - "+value)
		}
		return append(inside, "          "+key+":", "            - "+value)
	})
}
