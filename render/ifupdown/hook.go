package ifupdown

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render/ipwords"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// hooks are the options whose value a shell runs; on the way down what the way up
// did is undone, which says nothing new.
var hooks = []string{"pre-up", "up", "post-up", "down", "pre-down", "post-down"}

func isHook(key string) bool { return slices.Contains(hooks, key) }

// madeKind is the kind of a stanza's device that one of its lines makes and that a
// fabric has not; "" none.
func madeKind(s *stanza, name string) string {
	for _, o := range s.options {
		if !isHook(o.key) {
			continue
		}
		for _, words := range commandsOf(o.value, name) {
			at := slices.Index(words, "type")
			if len(words) > 4 && words[0] == "ip" && strings.HasPrefix("link", words[1]) && words[2] == "add" && slices.Contains(words[3:], name) && at > 0 && at+1 < len(words) &&
				!slices.Contains([]string{"dummy", "bond", "bridge", "vlan"}, words[at+1]) {
				return words[at+1]
			}
		}
	}
	return ""
}

// hook reads a line that a shell runs, where it is made of the commands that set a
// network: ip route, ip rule, ip link, ip address, route, ethtool, sysctl, echo to
// sysfs. False for any other.
func (r *reader) hook(s *stanza, o option, name string) bool {
	down := strings.HasSuffix(o.key, "down")
	for _, command := range commandsOf(o.value, name) {
		if !down && !r.command(s, command, name) || down && !undoes(command) {
			return false
		}
	}
	return true
}

var commandEnd = regexp.MustCompile(`\s*(?:;|&&|\|\|)\s*`)

// commandsOf are a line's simple commands, as words: the interface's variable put in,
// paths of programs cut, what stands there to make a failure none left out.
func commandsOf(value, name string) [][]string {
	value = strings.NewReplacer("$IFACE", name, "${IFACE}", name, "--physical-interface", "").Replace(value)
	if at := strings.Index(value, " #"); at >= 0 && !strings.ContainsAny(value[at:], `"'`) {
		value = value[:at] // a shell's comment
	}
	var all [][]string
	for _, part := range commandEnd.Split(value, -1) {
		part = strings.TrimSuffix(strings.TrimSpace(strings.ReplaceAll(part, "2>/dev/null", "")), ">/dev/null")
		words := strings.Fields(part)
		if len(words) == 0 || words[0] == "true" || words[0] == ":" || words[0] == "/bin/true" {
			continue
		}
		words[0] = words[0][strings.LastIndexByte(words[0], '/')+1:]
		if words[0] == "-" {
			continue
		}
		all = append(all, words)
	}
	return all
}

// undoes reports a command that takes back what another set.
func undoes(words []string) bool {
	return words[0] == "rmmod" || words[0] == "modprobe" && slices.Contains(words, "-r") || words[0] == "ifenslave" && (slices.Contains(words, "-d") || slices.Contains(words, "--detach")) || slices.ContainsFunc(words, func(w string) bool {
		return w == "del" || w == "delete" || w == "flush" || w == "down" || w == "nomaster"
	})
}

func (r *reader) command(s *stanza, words []string, name string) bool {
	line := strings.Join(words, " ")
	switch words[0] {
	case "ip":
		return r.ip(s, words[1:], name)
	case "route":
		return r.oldRoute(words[1:], name)
	case "ifconfig":
		return len(words) == 3 && words[1] == name && words[2] == "up"
	case "ethtool":
		return len(words) > 3 && readback.LinkName(words[2]) && r.Ethtool(words[2], words[1], words[3:])
	case "sysctl":
		return r.sysctl(words[1:])
	case "modprobe":
		return r.Kinds[name] == "dummy-devices" && slices.Contains(words, "dummy") || r.Kinds[name] == "bonds" && len(words) > 1 && words[1] == "bonding" && r.moduleOptions(words[2:], name)
	case "ifenslave":
		return r.enslaved(words)
	case "echo":
		if m := echo.FindStringSubmatch(line); m != nil {
			return r.echoed(m[1], m[2])
		}
	}
	return false
}

// enslaves are the bond and the ports of a command ifenslave(8) of a stanza's; "" for
// another command.
func enslaves(words []string) (bond string, ports []string) {
	if len(words) < 3 || words[0] != "ifenslave" || slices.ContainsFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") && w != "-f" && w != "--force" }) {
		return "", nil
	}
	names := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
	if slices.ContainsFunc(names, func(w string) bool { return !readback.LinkName(w) }) {
		return "", nil
	}
	return names[0], names[1:]
}

// enslaved reads ifenslave BOND PORT...
func (r *reader) enslaved(words []string) bool {
	bond, ports := enslaves(words)
	for _, port := range ports {
		if r.Kinds[bond] == "bonds" && port != bond {
			r.addPort(bond, port)
		}
	}
	return bond != "" && len(ports) > 0
}

// moduleOptions reads options of the bonding module, which are those of the bonds that
// it makes.
func (r *reader) moduleOptions(words []string, name string) bool {
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if key == "max_bonds" {
			continue
		}
		row, known := bondopt.Find(key)
		if !ok || !known {
			return false
		}
		if _, err := row.Word(value); err != nil && row.Kind != bondopt.Port {
			return false
		}
		if !r.says(name, "bond-"+strings.ReplaceAll(key, "_", "-")) {
			r.Option(name, row.Name, value)
		}
	}
	return true
}

// ip reads ip(8)'s route, rule, address and link.
func (r *reader) ip(s *stanza, words []string, name string) bool {
	four := s.family != "inet6"
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		switch {
		case words[0] == "-6" || words[0] == "-4":
			four = words[0] == "-4"
		case (words[0] == "-family" || words[0] == "-f") && len(words) > 1:
			words = words[1:]
			four = words[0] != "inet6"
		}
		words = words[1:]
	}
	if len(words) < 2 {
		return false
	}
	object, verb, rest := words[0], words[1], words[2:]
	adds := slices.Contains([]string{"add", "a", "replace", "append", "r", "change"}, verb)
	switch {
	case strings.HasPrefix("route", object) && adds:
		if at := slices.Index(rest, "dev"); at >= 0 && at+1 < len(rest) && readback.LinkName(rest[at+1]) {
			name = rest[at+1]
		}
		route, why := ipwords.ReadRoute(r.Host, name, rest, four)
		if r.why = why; why == "" {
			node.Push(r.Device(name), "routes", route)
		}
		return why == ""
	case strings.HasPrefix("rule", object) && object != "r" && adds:
		rule, why := ipwords.ReadRule(r.Host, rest, four)
		if r.why = why; why == "" {
			if list := r.Device(name).Get("routing-policy"); list == nil || !node.Contains(list.Items, rule) {
				node.Push(r.Device(name), "routing-policy", rule)
			}
		}
		return why == ""
	case strings.HasPrefix("rule", object) && object != "r" && strings.HasPrefix("delete", verb):
		return true // before it is added again
	case strings.HasPrefix("address", object) && adds:
		return r.ipAddress(rest, name)
	case strings.HasPrefix("link", object) && (verb == "set" || verb == "s"):
		return r.ipLink(rest, name)
	case strings.HasPrefix("link", object) && adds:
		return r.Kinds[name] == "dummy-devices" && slices.Contains(rest, "dummy")
	}
	return false
}

func (r *reader) ipAddress(words []string, name string) bool {
	if len(words) == 0 {
		return false
	}
	p, err := netip.ParsePrefix(words[0])
	for i := 1; i < len(words) && err == nil; i++ {
		switch {
		case words[i] == "dev" && i+1 < len(words) && words[i+1] == name:
			i++
		case (words[i] == "brd" || words[i] == "broadcast") && i+1 < len(words):
			i++
		default:
			return false
		}
	}
	if err == nil {
		r.Address(name, p, nil)
	}
	return err == nil
}

func (r *reader) ipLink(words []string, name string) bool {
	if len(words) > 0 && words[0] == "dev" {
		words = words[1:]
	}
	if len(words) == 0 || !readback.LinkName(words[0]) {
		return false
	}
	of := words[0]
	for i := 1; i < len(words); i++ {
		switch {
		case words[i] == "up":
		case words[i] == "mtu" && i+1 < len(words):
			n, err := strconv.Atoi(words[i+1])
			if err != nil {
				return false
			}
			node.Put(r.Device(of), "mtu", node.PlainInt(n))
			i++
		default:
			return false
		}
	}
	return true
}

// oldRoute reads route(8): route add [-A inet6] -net N netmask M gw G [metric N] [dev D].
func (r *reader) oldRoute(words []string, name string) bool {
	if len(words) < 3 || words[0] != "add" {
		return false
	}
	words = words[1:]
	four := true
	if words[0] == "-A" || words[0] == "-6" {
		four = words[0] == "-A" && words[1] != "inet6"
		words = words[map[bool]int{true: 2, false: 1}[words[0] == "-A"]:]
	}
	said := map[string]string{}
	to := ""
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-net" || w == "-host":
		case slices.Contains([]string{"netmask", "gw", "metric", "dev"}, w) && i+1 < len(words):
			i++
			said[w] = words[i]
		case to == "":
			to = w
		default:
			said["dev"] = w
		}
	}
	destination := "default"
	if to != "default" {
		p, ok := prefixOf(to, said["netmask"])
		if !ok {
			return false
		}
		destination = p.Masked().String()
	}
	ip := []string{destination}
	for _, pair := range [][2]string{{"gw", "via"}, {"metric", "metric"}} {
		if said[pair[0]] != "" {
			ip = append(ip, pair[1], said[pair[0]])
		}
	}
	if readback.LinkName(said["dev"]) {
		name = said["dev"]
	}
	route, why := ipwords.ReadRoute(r.Host, name, ip, four)
	if r.why = why; why == "" {
		node.Push(r.Device(name), "routes", route)
	}
	return why == ""
}

// sysctl reads sysctl -w KEY=VALUE.
func (r *reader) sysctl(words []string) bool {
	found := false
	for i, w := range words {
		if strings.HasPrefix(w, "-") {
			continue
		}
		key, value, ok := strings.Cut(strings.Trim(strings.Join(words[i:], " "), `"'`), "=")
		if !ok || strings.ContainsAny(key, " ") {
			return false
		}
		node.Put(node.Within(r.Beside, "sysctl"), strings.ReplaceAll(strings.TrimSpace(key), "/", "."), node.Quoted(strings.Trim(strings.TrimSpace(value), `"'`)))
		found = true
		break
	}
	return found
}

var echo = regexp.MustCompile(`^echo (?:-n )?["']?([\w.:+ ,-]+?)["']? ?> ?(/(?:sys|proc)/[\w./:+-]+)$`)

// echoed reads what is written into sysfs or below /proc/sys.
func (r *reader) echoed(value, file string) bool {
	if key, is := strings.CutPrefix(file, "/proc/sys/"); is {
		node.Put(node.Within(r.Beside, "sysctl"), strings.ReplaceAll(key, "/", "."), node.Quoted(value))
		return true
	}
	parts := strings.Split(strings.TrimPrefix(file, "/sys/class/net/"), "/")
	if len(parts) == 3 && parts[1] == "bonding" && r.Kinds[parts[0]] == "bonds" {
		row, known := bondopt.Find(parts[2])
		if known {
			r.Option(parts[0], row.Name, value)
		}
		return known
	}
	if n, err := strconv.Atoi(value); len(parts) == 2 && parts[1] == "mtu" && err == nil && readback.LinkName(parts[0]) {
		node.Put(r.Device(parts[0]), "mtu", node.PlainInt(n))
		return true
	}
	return false
}
