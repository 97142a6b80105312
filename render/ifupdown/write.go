package ifupdown

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ipwords"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// Write writes what a host is to have into the stanzas that are there, and new ones
// at the end of /etc/network/interfaces: comments, order, and lines that say nothing
// else than what is wanted stay.
func Write(in render.Input) (render.Output, error) {
	var out render.Output
	if in.Host.Network.IsZero() {
		return out, render.ErrEmpty
	}
	w := writer{in: in, out: &out, l: ledger.New(in, &out), texts: map[string][]string{}, old: readConfig(in.Old), now: yamldoc.Filled(node.Mapping())}
	for file, text := range in.Old {
		if strings.HasPrefix(file, Dir) {
			w.texts[file] = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		}
	}
	if found, err := Read(in.Old); err == nil {
		w.now = found.Keys.Get("network")
	}
	if staged, there := in.Old[stagedOne]; there && staged != in.Old[mainFile] {
		return render.Output{}, ErrStaged
	}
	for file, lines := range w.texts {
		if slices.ContainsFunc(lines, isTemplate) {
			return render.Output{}, fmt.Errorf("%s: %w", file, ErrTemplate)
		}
	}
	if _, there := w.texts[mainFile]; !there {
		w.texts[mainFile] = []string{"auto lo", "iface lo inet loopback"}
	}
	for _, d := range device.All(in) {
		switch d.Kind {
		case device.Ethernet, device.Bond, device.Bridge, device.VLAN, device.Dummy, device.OVSBridge:
		case device.OVSBond:
			if d.MasterKind != device.OVSBridge {
				w.l.LeaveOut(d.ID, string(d.Kind), "interfaces(5) has bonds of Open vSwitch on a bridge, and no bridge has it")
				continue
			}
		default:
			w.l.LeaveOut(d.ID, string(d.Kind), "devices of this kind are not written as interfaces(5)")
			continue
		}
		if d.Name == "" {
			w.l.LeaveOut(d.ID, "match", "which device this is is not known, and a stanza is one device's")
			continue
		}
		w.device(d)
	}
	for _, name := range in.Host.Absent {
		w.l.Say(name, "absent")
		if !w.remove(name) {
			out.Warn(name, "absent", "no stanza is about it, and none says that a link must not be there")
		}
	}
	for key := range in.AllSysctls() {
		w.l.Say("", "sysctl."+key) // the sysctl format's
	}
	w.l.Finish("interfaces(5) cannot represent it",
		ledger.Reason{Keys: "source_rules", Why: ledger.SourceRulesWhy},
		ledger.Reason{Keys: "mptcp.", Why: "interfaces(5) has no MPTCP: a post-up line with ip mptcp"},
		ledger.Reason{Keys: "set-name", Why: "interfaces(5) renames nothing: a .link file of systemd's does"},
	)
	for file, lines := range w.texts {
		text := strings.Join(lines, "\n") + "\n"
		if text != in.Old[file] || file == mainFile {
			out.Add(file, 0o644, text)
		}
	}
	return out, nil
}

// ErrStaged is the error for a Proxmox VE whose page has a change that waits: at the
// next boot, or when somebody applies it, it takes the place of what is written here.
var ErrStaged = errors.New(stagedOne + " waits to take this file's place: apply it (pvesh set /nodes/NODE/network) or drop it (pvesh delete /nodes/NODE/network) first")

// ErrTemplate is the error for a file that ifupdown2 makes stanzas of by a template
// (template_enable of ifupdown2.conf): what a line of it becomes is not known.
var ErrTemplate = errors.New("is a template: change what it is made from, or write the stanzas out")

func isTemplate(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "%") || strings.Contains(line, "<%") || strings.HasPrefix(line, "${")
}

type writer struct {
	in    render.Input
	out   *render.Output
	l     *ledger.Ledger
	texts map[string][]string // lines by file, which put changes
	// parsed is what they say; nil after a change, until somebody asks.
	parsed *config
	old    config        // what was there before anything was written
	now    *yamldoc.Node // the same as a fabric has it
}

// put gives a file other lines.
func (w *writer) put(file string, lines []string) { w.texts[file], w.parsed = lines, nil }

// cutOut takes a stanza out of its file.
func (w *writer) cutOut(s *stanza) {
	w.put(s.file, slices.Delete(w.texts[s.file], s.head.number-1, lastOf(s)))
}

// device writes a device's stanzas.
func (w *writer) device(d device.Device) {
	four, six, aliases := w.wantedOf(d)
	for _, six := range []bool{false, true} {
		if s := w.stanza(d.Name, six); s != nil && s.file == sdnFile {
			w.l.LeaveOut(d.ID, "interfaces", "Proxmox VE writes its stanza anew with each change of its SDN: change it there")
			return
		}
	}
	if w.stanza(d.Name, false) == nil && w.stanza(d.Name, true) == nil {
		if _, there := w.in.Old[mainFile]; there && d.Kind == device.Ethernet && nothing(four) && nothing(six) {
			return // a port needs no stanza
		}
		w.fresh(d, four, six)
	} else {
		if s := w.stanza(d.Name, false); s != nil && s.family == "" && w.stanza(d.Name, true) == nil {
			// ifupdown2 has both families in one.
			four.lines, four.lists, six = append(four.lines, six.lines...), append(four.lists, six.lists...), wantedStanza{}
		}
		w.update(d, false, four)
		w.update(d, true, six)
	}
	for _, label := range slices.Sorted(maps.Keys(aliases)) {
		w.alias(label, aliases[label])
	}
}

func nothing(s wantedStanza) bool { return s.method == "" && len(s.lines) == 0 }

// samePorts reports a bond or bridge whose ports are the wanted ones already, in
// whatever stanza they are named.
func (w *writer) samePorts(d device.Device) bool {
	section := map[device.Kind]string{device.Bond: "bonds", device.Bridge: "bridges"}[d.Kind]
	have := w.now.Get(section).Get(d.Name)
	return have != nil && slices.Equal(node.Texts(have.Get("interfaces")), d.Ports)
}

// fresh writes a device that no stanza is about.
func (w *writer) fresh(d device.Device, four, six wantedStanza) {
	var lines []string
	if d.Text("activation-mode") != "manual" {
		lines = append(lines, w.bringsUp(d))
	}
	method := four.method
	if method == "" {
		method = "manual"
	}
	lines = append(lines, stanzaLines(d.Name, "inet", method, four.lines)...)
	if six.method != "" || len(six.lines) > 0 {
		method = six.method
		if method == "" {
			method = "manual"
		}
		lines = append(lines, "")
		lines = append(lines, stanzaLines(d.Name, "inet6", method, six.lines)...)
	}
	if len(w.old.elsewhere) > 0 {
		w.out.Warn(d.ID, "interfaces", "its stanza is added to "+mainFile+", which sources files that were not read: "+strings.Join(w.old.elsewhere, ", "))
	}
	w.append(mainFile, lines)
}

func stanzaLines(name, family, method string, wanted []said) []string {
	lines := []string{"iface " + name + " " + family + " " + method}
	for _, s := range wanted {
		lines = append(lines, "    "+s.text)
	}
	return lines
}

// append adds lines behind a file's, an empty line before them.
func (w *writer) append(file string, lines []string) {
	have := w.texts[file]
	if n := len(have); n > 0 && strings.TrimSpace(have[n-1]) != "" {
		have = append(have, "")
	}
	w.put(file, append(have, lines...))
}

// stanza is the first stanza of a name and a family; nil for none.
func (w *writer) stanza(name string, six bool) *stanza {
	if all := w.stanzasOf(name, six); len(all) > 0 {
		return all[0]
	}
	return nil
}

// stanzasOf are a name's stanzas of a family in the files as they are now; one without
// a family is IPv4's.
func (w *writer) stanzasOf(name string, six bool) []*stanza {
	if w.parsed == nil {
		texts := map[string]string{}
		for file, lines := range w.texts {
			texts[file] = strings.Join(lines, "\n")
		}
		c := readConfig(texts)
		w.parsed = &c
	}
	var all []*stanza
	for i := range w.parsed.stanzas {
		if s := &w.parsed.stanzas[i]; s.name == name && (s.family == "inet6") == six {
			all = append(all, s)
		}
	}
	return all
}

// update puts what is wanted into the stanzas of a family, or makes one. What some
// stanza says already stays there; what is missing goes into the first.
func (w *writer) update(d device.Device, six bool, wanted wantedStanza) {
	stanzas := w.stanzasOf(d.Name, six)
	if len(stanzas) == 0 {
		w.addFamily(d, six, wanted)
		return
	}
	left := slices.Clone(wanted.lines)
	changes := make([]map[int]*string, len(stanzas)) // by line; nil deletes
	for i, s := range stanzas {
		changes[i] = map[int]*string{}
		for _, o := range s.options {
			class, id := topicOf(o, d.Name, s.get("netmask"))
			at := slices.IndexFunc(left, func(l said) bool { return l.class == class && (l.id == id || single(class)) })
			switch {
			case class == "":
			case at >= 0 && class == "ports" && isPattern(o):
				w.out.Warn(d.ID, "interfaces", "the file has its ports as a pattern, which stays: "+o.value)
				left = slices.Delete(left, at, at+1)
			case at >= 0:
				if !sameMeaning(o, left[at]) {
					text := indentOf(w.texts[s.file][o.number-1]) + inForm(o, left[at])
					changes[i][o.number] = &text
				}
				left = slices.Delete(left, at, at+1)
			case slices.Contains(wanted.lists, class), class == "master" && o.first() != d.Master:
				changes[i][o.number] = nil
			}
		}
	}
	first := stanzas[0]
	bare := first.family == "" && first.method == "" && wanted.method != "dhcp" // ifupdown2's
	keeps := wanted.method == "manual" && first.method == "static"
	if wanted.method != "" && first.method != wanted.method && !bare && !keeps && !w.leasedBeside(first, stanzas, wanted) {
		text := strings.Join([]string{"iface", first.name, familyOf(first, six), wanted.method}, " ")
		changes[0][first.head.number] = &text
	}
	for i := len(stanzas) - 1; i >= 0; i-- { // from the end, so that numbers of lines hold
		var more []said
		if i == 0 {
			more = left
		} else if emptied(stanzas[i], changes[i]) {
			w.cutOut(stanzas[i])
			continue
		}
		w.change(stanzas[i], changes[i], more)
	}
}

// isPattern reports ports that are named by a pattern.
func isPattern(o option) bool {
	return slices.ContainsFunc(o.list(), func(w string) bool { return w == "all" || w == "glob" || w == "regex" })
}

// leasedBeside reports a first stanza that leases while another has the wanted static
// addresses, as a host with both has them.
func (w *writer) leasedBeside(first *stanza, all []*stanza, wanted wantedStanza) bool {
	return first.method == "dhcp" && wanted.method == "static" && slices.ContainsFunc(all, func(s *stanza) bool { return s.method == "static" })
}

// emptied reports a static stanza that loses its last address.
func emptied(s *stanza, changed map[int]*string) bool {
	return s.method == "static" && !slices.ContainsFunc(s.options, func(o option) bool {
		text, touched := changed[o.number]
		return o.key == "address" && (!touched || text != nil)
	})
}

// addFamily adds a stanza of a family behind the device's last one.
func (w *writer) addFamily(d device.Device, six bool, wanted wantedStanza) {
	if wanted.method == "" && len(wanted.lines) == 0 {
		return
	}
	others := w.stanzasOf(d.Name, !six)
	family, method := "inet", wanted.method
	if six {
		family = "inet6"
	}
	if method == "" {
		method = "manual"
	}
	last := others[len(others)-1]
	w.insert(last.file, lastOf(last), append([]string{""}, stanzaLines(d.Name, family, method, wanted.lines)...))
}

func familyOf(s *stanza, six bool) string {
	switch {
	case s.family != "":
		return s.family
	case six:
		return "inet6"
	}
	return "inet"
}

// lastOf is the last line of a stanza.
func lastOf(s *stanza) int {
	last := s.head.last
	for _, o := range s.options {
		last = max(last, o.last)
	}
	return last
}

// change replaces and deletes lines of a stanza, and adds others below it.
func (w *writer) change(s *stanza, changed map[int]*string, more []said) {
	indent := "    "
	if len(s.options) > 0 {
		indent = indentOf(w.texts[s.file][s.options[0].number-1])
	}
	ends := map[int]int{s.head.number: s.head.last}
	for _, o := range s.options {
		ends[o.number] = o.last
	}
	var out []string
	lines := w.texts[s.file]
	for i := 0; i < len(lines); i++ {
		text, touched := changed[i+1]
		if !touched {
			out = append(out, lines[i])
		} else {
			if text != nil {
				out = append(out, *text)
			}
			i = ends[i+1] - 1
		}
		if i+1 == lastOf(s) {
			for _, m := range more {
				out = append(out, indent+m.text)
			}
		}
	}
	w.put(s.file, out)
}

func (w *writer) insert(file string, after int, lines []string) {
	w.put(file, slices.Insert(w.texts[file], after, lines...))
}

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// single reports a class of which a stanza has one line, whatever it says.
func single(class string) bool {
	return !slices.Contains([]string{"address", "route", "rule", "undo", "bond", "bridge", "ethtool", "port"}, class)
}

// topicOf is what a line of a stanza with a netmask is about, in the classes of what
// is wanted; "" for what is nobody's here.
func topicOf(o option, name, mask string) (class, id string) {
	switch o.key {
	case "address":
		p, ok := prefixOf(o.first(), mask)
		if !ok {
			return "", ""
		}
		return "address", p.String()
	case "bond-slaves", "bond-ports", "slaves", "bridge-ports", "ovs-bonds", "ovs-ports":
		return "ports", ""
	case "ovs-mtu":
		return "mtu", ""
	case "bond-master":
		return "master", ""
	case "netmask", "network", "broadcast", "gateway", "metric", "mtu", "hwaddress", "vlan-id", "vlan-raw-device", "dns-nameservers", "dns-search", "accept-ra",
		"ovs-type", "ovs-bridge", "ovs-options":
		return o.key, ""
	}
	if row, known := bondOption(o.key); known {
		return "bond", row.Name
	}
	if strings.HasPrefix(o.key, "bridge-") {
		return "bridge", o.key
	}
	if isHook(o.key) {
		return topicOfHook(o, name)
	}
	return "", ""
}

func topicOfHook(o option, name string) (class, id string) {
	commands := commandsOf(o.value, name)
	if len(commands) != 1 {
		return "", ""
	}
	c := commands[0]
	down := strings.HasSuffix(o.key, "down")
	switch {
	case c[0] == "ethtool" && len(c) > 2 && c[2] == name && !down:
		return "ethtool", c[1]
	case c[0] == "tc" && len(c) > 5 && c[1] == "qdisc" && slices.Contains(c, name):
		return "qdisc", ""
	case c[0] == "echo":
		if m := echo.FindStringSubmatch(strings.Join(c, " ")); m != nil {
			if row, known := bondOption("bond-" + m[2][strings.LastIndexByte(m[2], '/')+1:]); known && strings.HasPrefix(m[2], "/sys/class/net/"+name+"/bonding/") {
				return "bond", row.Name
			}
		}
	case c[0] == "ip":
		return topicOfIP(c[1:], name, down)
	}
	return "", ""
}

func topicOfIP(c []string, name string, down bool) (class, id string) {
	four := true
	for len(c) > 0 && strings.HasPrefix(c[0], "-") {
		if four = c[0] != "-6"; (c[0] == "-family" || c[0] == "-f") && len(c) > 1 {
			four = c[1] != "inet6"
			c = c[1:]
		}
		c = c[1:]
	}
	if len(c) < 3 {
		return "", ""
	}
	switch object := c[0]; {
	case (object == "address" || object == "addr" || object == "a") && !down:
		return "address", c[2]
	case (object == "route" || object == "r" || object == "ro") && !down:
		if slices.Contains(c, "nexthop") {
			return "multipath", c[2]
		}
		return "route", canonicalRoute(name, c[2:], four)
	case object == "rule" || object == "ru":
		class := "rule"
		if down {
			class = "undo"
		}
		return class, canonicalRule(c[2:], four)
	case object == "link" && slices.Contains(c, "bond_slave") && len(c) > 3:
		return "port", c[len(c)-2]
	case object == "link" && slices.Contains(c, "dummy"):
		return "make", ""
	}
	return "", ""
}

func canonicalRoute(link string, words []string, four bool) string {
	return canonical(words, func(f *readback.Host, words []string) (*yamldoc.Node, string) {
		return ipwords.ReadRoute(f, link, words, four)
	})
}

func canonicalRule(words []string, four bool) string {
	return canonical(words, func(f *readback.Host, words []string) (*yamldoc.Node, string) {
		return ipwords.ReadRule(f, words, four)
	})
}

// canonical are the words of a route or rule in one spelling, so that two lines of one
// meaning are one; the words themselves where they are not understood.
func canonical(words []string, read func(*readback.Host, []string) (*yamldoc.Node, string)) string {
	if n, why := read(readback.New(), words); why == "" {
		sorted := slices.Clone(n.Pairs)
		slices.SortFunc(sorted, func(a, b yamldoc.Pair) int { return strings.Compare(a.Key, b.Key) })
		var all []string
		for _, p := range sorted {
			all = append(all, p.Key+"="+p.Value.Text)
		}
		return strings.Join(all, " ")
	}
	return strings.Join(words, " ")
}

// sameMeaning reports a line that says what is wanted already.
func sameMeaning(o option, s said) bool {
	if s.class == "address" || s.class == "route" || s.class == "rule" || s.class == "undo" {
		return s.class != "address" || strings.Contains(o.words[1], "/") || o.key != "address"
	}
	_, value, _ := strings.Cut(s.text, " ")
	if s.class == "bond" {
		row, _ := bondOption("bond-" + s.id)
		have, wanted := valueOf(o), valueOfText(s.text)
		a, errA := row.Word(have)
		b, errB := row.Word(wanted)
		return errA == nil && errB == nil && a == b && !strings.Contains(o.value, "#")
	}
	if isHook(o.key) {
		return slices.EqualFunc(commandsOf(o.value, ""), commandsOf(value, ""), func(a, b []string) bool { return slices.Equal(a, b) })
	}
	if n, err := strconv.Atoi(value); err == nil {
		m, err := strconv.Atoi(o.first())
		return err == nil && n == m
	}
	return o.value == value
}

// valueOf is the value of a bond option, as a key's or as what is written to sysfs.
func valueOf(o option) string {
	if m := echo.FindStringSubmatch(strings.Join(slices.Concat(commandsOf(o.value, "")...), " ")); isHook(o.key) && m != nil {
		return m[1]
	}
	return strings.Join(o.list(), ",")
}

func valueOfText(text string) string {
	l := readLines(text)[0]
	return valueOf(option{line: l, key: l.words[0], value: strings.TrimSpace(strings.TrimPrefix(text, l.words[0]))})
}

// inForm is what is wanted in the form that the line has: a bond option that is a key
// stays one.
func inForm(o option, s said) string {
	if strings.HasPrefix(o.key, "ovs-") && (s.class == "mtu" || strings.HasPrefix(s.text, "ovs_")) {
		_, value, _ := strings.Cut(s.text, " ")
		return o.words[0] + " " + value
	}
	if s.class != "bond" || isHook(o.key) == strings.HasPrefix(s.text, "post-up") {
		return s.text
	}
	if isHook(o.key) {
		return s.text
	}
	return o.words[0] + " " + strings.ReplaceAll(valueOfText(s.text), ",", " ")
}

// alias writes the stanza of an alias.
func (w *writer) alias(label string, p netip.Prefix) {
	lines := []string{"auto " + label, "iface " + label + " inet static", "    address " + p.String()}
	s := w.stanza(label, false)
	if s == nil {
		w.append(mainFile, lines)
		return
	}
	changed := map[int]*string{}
	placed := false
	for _, o := range s.options {
		switch o.key {
		case "address":
			text := indentOf(w.texts[s.file][o.number-1]) + "address " + p.String()
			changed[o.number] = &text
			placed = true
		case "netmask":
			changed[o.number] = nil
		}
	}
	var more []said
	if !placed {
		more = []said{{"address", p.String(), "address " + p.String()}}
	}
	w.change(s, changed, more)
}

// remove takes a device's stanzas out, and its name from the lines that bring it up;
// false where there is none.
func (w *writer) remove(name string) (found bool) {
	for _, six := range []bool{false, true} {
		for s := w.stanza(name, six); s != nil; s = w.stanza(name, six) {
			w.cutOut(s)
			found = true
		}
	}
	for file, lines := range w.texts {
		var out []string
		for _, line := range lines {
			words := strings.Fields(line)
			if len(words) > 1 && (words[0] == "auto" || strings.HasPrefix(words[0], "allow-")) && slices.Contains(words[1:], name) {
				words = slices.DeleteFunc(words, func(word string) bool { return word == name })
				if len(words) == 1 {
					continue
				}
				line = strings.Join(words, " ")
			}
			out = append(out, line)
		}
		w.put(file, out)
	}
	return found
}
