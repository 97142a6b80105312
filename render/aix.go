package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
)

// Where AIX's scripts go.
const (
	aixUp   = "/etc/linerate/etherchannel.sh"
	aixDown = "/etc/linerate/etherchannel-undo.sh"
)

// aixWriter writes the commands for AIX and those that take them back. The
// system chooses the name of an adapter that is made, so the scripts keep it
// in a variable of its own for each.
type aixWriter struct {
	in        Input
	ledger    *ledger
	names     otherNames
	all       []device
	up, down  []string // down in the order of up: written backwards
	find      []string // what sets the variables of the undo
	variables map[string]string
}

func writeAIX(in Input) (Output, error) {
	var out Output
	w := &aixWriter{in: in, ledger: newLedger(in, &out), variables: map[string]string{}}
	w.all, w.names = namedDevices(in, w.ledger, aixAdapter, func(d device, n int) string {
		if d.kind == kindBond || d.kind == kindVLAN {
			return fmt.Sprintf("%s%d", d.kind, n+1)
		}
		return ""
	})
	for _, d := range w.all {
		w.device(d)
	}
	if len(w.up) == 0 {
		return Output{}, fmt.Errorf("%w that can be written for AIX: %s", ErrEmpty, reasons(out))
	}
	for _, d := range w.all {
		for i, r := range d.Routes {
			w.route(d, fmt.Sprintf("routes[%d]", i), r)
		}
	}
	w.options()
	out.add(aixUp, 0o700, w.script())
	out.add(aixDown, 0o700, w.undo())
	w.ledger.finish(aixWhy)
	return out, nil
}

func aixWhy(x wish) string {
	switch {
	case strings.HasPrefix(x.key, "sysctl."):
		return "AIX has no counterpart of this tunable"
	case strings.HasPrefix(x.key, "parameters.mii-monitor") || x.key == "parameters.up-delay" || x.key == "parameters.down-delay":
		return "an EtherChannel follows the adapters' link state by itself: there is nothing to set"
	case strings.HasPrefix(x.key, "parameters.") || strings.HasPrefix(x.key, "bonding."):
		return "an EtherChannel has no such attribute"
	case strings.HasPrefix(x.key, "routing-policy") || x.key == "source_rules":
		return "AIX has no routing by source"
	case strings.HasPrefix(x.key, "mptcp."):
		return "AIX has no MPTCP"
	case x.key == "absent":
		return "remove it with rmdev -dl"
	}
	return "AIX has no attribute for it"
}

func (w *aixWriter) do(up, down string) {
	w.up = append(w.up, up)
	if down != "" {
		w.down = append(w.down, down)
	}
}

func (w *aixWriter) note(format string, args ...any) {
	w.up = append(w.up, "", "# "+fmt.Sprintf(format, args...))
}

func (w *aixWriter) device(d device) {
	w.ledger.say(d.ID, string(d.kind), "match", "set-name")
	switch d.kind {
	case kindEthernet:
		w.adapter(d)
		if d.master == "" {
			w.variables[d.handle()] = w.names.own(d)
		}
	case kindBond:
		if !w.channel(d) {
			return
		}
	case kindVLAN:
		if !w.vlan(d) {
			return
		}
	default:
		w.ledger.leaveOut(d.ID, string(d.kind), "only physical adapters, EtherChannels and VLANs are written")
		return
	}
	if d.master == "" {
		w.interfaceOf(d)
	}
}

// adapter sets what a physical adapter must have before it is a port: it
// cannot be changed afterwards.
func (w *aixWriter) adapter(d device) {
	name := w.names.own(d)
	var attributes []string
	set := func(key, attribute, value string) {
		if !slices.ContainsFunc(attributes, func(a string) bool { return strings.HasPrefix(a, attribute+"=") }) {
			attributes = append(attributes, attribute+"="+value)
		}
		w.ledger.say(d.ID, key)
	}
	if mtuOf(d, w.all) > 1500 {
		set("mtu", "jumbo_frames", "yes")
	}
	for _, key := range slices.Sorted(maps.Keys(d.settings.Offloads)) {
		if word, ok := aixOffloads[key]; ok {
			set("offloads."+key, word, map[bool]string{true: "yes", false: "no"}[d.settings.Offloads[key]])
		}
	}
	if n := d.settings.RingRx; n != 0 {
		if n > 4096 {
			w.ledger.cannot(d.ID, "rings.rx", "rxdesc_que_sz goes up to 4096")
		} else {
			set("rings.rx", "rxdesc_que_sz", strconv.Itoa(n))
		}
	}
	if mtuOf(d, w.all) > 0 && mtuOf(d, w.all) <= 1500 {
		w.ledger.say(d.ID, "mtu") // the interface's own line says it, or it is the default
	}
	if d.master == "" && attributes == nil {
		return
	}
	w.note("smitty chgenet: %s", name)
	en := "en" + strings.TrimPrefix(name, "ent")
	w.up = append(w.up, "ifconfig "+en+" down detach 2>/dev/null || true")
	if attributes != nil {
		w.change(name, true, attributes...)
	}
}

// change sets attributes of a device; where it was there before, the undo
// sets them as they were.
func (w *aixWriter) change(device string, there bool, attributes ...string) {
	var names []string
	line := "chdev -l " + device
	for _, a := range attributes {
		name, _, _ := strings.Cut(a, "=")
		names = append(names, name)
		line += " -a " + a
	}
	if there {
		w.up = append(w.up, "keep "+device+" "+strings.Join(names, " "))
		w.down = append(w.down, "back "+device+" "+strings.Join(names, " "))
	}
	w.up = append(w.up, line)
}

// channel makes an EtherChannel, or changes the one that has these adapters.
func (w *aixWriter) channel(d device) bool {
	ports := w.names.of(portsInOrder(w.in, d, w.ledger))
	attributes := []string{}
	mode, known := echModes[d.mode()]
	switch {
	case known:
		attributes = append(attributes, "adapter_names="+strings.Join(ports, ","), "mode="+mode)
	case d.mode() == "active-backup" && len(ports) == 2:
		attributes = append(attributes, "adapter_names="+ports[0], "backup_adapter="+ports[1])
		ports = ports[:1]
	default:
		w.ledger.leaveOut(d.ID, d.options[0].key, "an EtherChannel has no counterpart of mode "+d.mode()+" with these ports; left out")
		return false
	}
	w.ledger.say(d.ID, d.options[0].key, "interfaces")
	o, said := d.option("xmit_hash_policy")
	switch hash, ok := echHashes[o.value]; {
	case mode == "" || mode == "round_robin":
	case !said:
		attributes = append(attributes, "hash_mode=default")
	case !ok:
		w.ledger.cannot(d.ID, o.key, "an EtherChannel has no hash like "+o.value+": its default, by the destination's address, is used")
		attributes = append(attributes, "hash_mode=default")
	default:
		attributes = append(attributes, "hash_mode="+hash)
		w.ledger.say(d.ID, o.key)
		if hash == "default" {
			w.ledger.cannot(d.ID, o.key, "hash_mode=default looks at the destination's last byte alone: to one host all traffic takes one link; layer3+4 is src_dst_port")
		}
	}
	if o, ok := d.option("lacp_rate"); ok && mode == "8023ad" {
		attributes = append(attributes, "interval="+map[bool]string{true: "short", false: "long"}[o.value == "fast"])
		w.ledger.say(d.ID, o.key)
	}
	if mtuOf(d, w.all) > 1500 {
		attributes = append(attributes, "use_jumbo_frame=yes")
	}
	v := fmt.Sprintf("ec%d", len(w.variables)+1)
	w.variables[d.handle()] = "$" + v
	w.note("smitty etherchannel: %s", oneLine(d.ID))
	find := v + "=$(channel_of " + strings.Join(ports, ",") + ")"
	var names []string
	for _, a := range attributes {
		name, _, _ := strings.Cut(a, "=")
		names = append(names, name)
	}
	line := " -a " + strings.Join(attributes, " -a ")
	w.up = append(w.up, find, `if [ -n "$`+v+`" ]; then`, `  keep "$`+v+`" `+strings.Join(names, " "), `  chdev -l "$`+v+`"`+line,
		"else", "  "+v+"=$(mkdev -c adapter -s pseudo -t ibm_ech"+line+" | awk '{print $1}')", `  made "$`+v+`"`, "fi", "cfgmgr")
	w.find = append(w.find, find)
	w.down = append(w.down, `[ -z "$`+v+`" ] || unmake "$`+v+`" || back "$`+v+`" `+strings.Join(names, " "))
	return true
}

func (w *aixWriter) vlan(d device) bool {
	base, ok := w.variables[d.parent]
	if !ok {
		w.ledger.leaveOut(d.ID, "link", "left out, since "+d.parent+" is")
		return false
	}
	v := fmt.Sprintf("vlan%d", len(w.variables)+1)
	w.variables[d.handle()] = "$" + v
	w.ledger.say(d.ID, "id", "link")
	w.note("smitty vlan: %s", oneLine(d.ID))
	find := fmt.Sprintf(`%s=$(vlan_of "%s" %d)`, v, base, d.tag)
	w.up = append(w.up, find, `if [ -z "$`+v+`" ]; then`,
		fmt.Sprintf(`  %s=$(mkdev -c adapter -s vlan -t eth -a base_adapter="%s" -a vlan_tag_id=%d | awk '{print $1}')`, v, base, d.tag), `  made "$`+v+`"`, "fi", "cfgmgr")
	w.find = append(w.find, find)
	w.down = append(w.down, `[ -z "$`+v+`" ] || unmake "$`+v+`" || true`)
	return true
}

// interfaceOf configures the interface of an adapter: MTU, addresses, and the
// buffers of its own.
func (w *aixWriter) interfaceOf(d device) {
	name := w.variables[d.handle()]
	en := "en" + strings.TrimPrefix(name, "ent")
	if v, made := strings.CutPrefix(name, "$"); made {
		en = `"en${` + v + `#ent}"`
	}
	mtu := mtuOf(d, w.all)
	w.note("smitty chinet: %s", oneLine(d.ID))
	if mtu != 0 {
		w.change(en, true, fmt.Sprintf("mtu=%d", mtu))
		w.ledger.say(d.ID, "mtu")
	}
	if i, asked := isnoOf(w.in, mtu, w.ledger); asked {
		w.change(en, true, i.attributes()...)
	}
	had := map[bool]bool{}
	for _, a := range d.Addresses {
		w.ledger.say(d.ID, "addresses")
		v4 := a.Addr().Is4()
		switch {
		case v4 && !had[v4]:
			w.change(en, true, "netaddr="+a.Addr().String(), "netmask="+netmask(a), "state=up")
		case v4:
			alias := a.Addr().String() + "," + netmask(a)
			w.do("chdev -l "+en+" -a alias4="+alias, "chdev -l "+en+" -a delalias4="+alias+" || true")
		case !had[v4]:
			w.change(en, true, "netaddr6="+a.Addr().String(), fmt.Sprintf("prefixlen=%d", a.Bits()), "state=up")
		default:
			w.do("chdev -l "+en+" -a alias6="+a.String(), "chdev -l "+en+" -a delalias6="+a.String()+" || true")
		}
		had[v4] = true
	}
}

func (w *aixWriter) route(d device, key string, r fabric.Route) {
	via := d.via(r)
	switch {
	case w.variables[d.handle()] == "":
		return
	case table(r.Table) != mainTable:
		w.ledger.cannot(d.ID, key, fmt.Sprintf("table %d: AIX has one routing table", r.Table))
		return
	case !via.IsValid() || r.Type != "" && r.Type != "unicast":
		w.ledger.cannot(d.ID, key, "routes kept in the ODM have a gateway here, and are unicast: use route(8)")
		return
	}
	w.ledger.say(d.ID, key, key+".table")
	attribute, text := "route", "net,-hopcount,0,"
	switch {
	case !via.Is4():
		attribute = "rout6"
		text += fmt.Sprintf("-prefixlen,%d,%s,%s", r.To.Bits(), r.To.Addr(), via)
	case r.To.Bits() == 0:
		text += ",0," + via.String()
	default:
		text += fmt.Sprintf("-netmask,%s,%s,%s", netmask(r.To), r.To.Addr(), via)
	}
	w.note("smitty mkroute: %s by %s", r.To, via)
	w.do("chdev -l inet0 -a "+attribute+"="+text, "chdev -l inet0 -a del"+attribute+"="+text+" || true")
}

// options are no(1)'s, for the whole system; the old ones stay in a file.
func (w *aixWriter) options() {
	all := counterparts(w.in, w.ledger, aixOptions)
	if send, asked := isnoOf(w.in, 9000, w.ledger); asked && max(send.send, send.receive) > 1048576 {
		// A socket's buffer is never above sb_max, whatever an interface says.
		if most := 2 * max(send.send, send.receive); number(all["sb_max"]) < most {
			all["sb_max"] = fmt.Sprint(most)
		}
	}
	if _, asked := isnoOf(w.in, 9000, w.ledger); asked {
		all["use_isno"] = "1"
	}
	if len(all) > 0 {
		w.note("smitty no: tunables of the whole system")
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		w.up = append(w.up, "keepno "+key, "no -p -o "+key+"="+all[key])
		w.down = append(w.down, "backno "+key)
	}
}
