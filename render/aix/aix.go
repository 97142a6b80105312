// Package aix writes a host's network as mkdev(1) and chdev(1) lines of AIX, and
// those that take it back.
package aix

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/counterpart"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/shell"
)

// Where AIX's scripts go.
const (
	upPath   = "/etc/linerate/etherchannel.sh"
	downPath = "/etc/linerate/etherchannel-rollback.sh"
)

// writer writes the commands for AIX and those that take them back. The
// system chooses the name of an adapter that is made, so the scripts keep it
// in a variable of its own for each.
type writer struct {
	in        render.Input
	ledger    *ledger.Ledger
	names     counterpart.Names
	all       []device.Device
	up, down  []string // down in the order of up: written backwards
	find      []string // what sets the variables of the undo
	variables map[string]string
}

// Write returns the host's network as two scripts, one that undoes the other. The error is
// render.ErrEmpty for a host that has nothing to write, with the reasons.
func Write(in render.Input) (render.Output, error) {
	var out render.Output
	w := &writer{in: in, ledger: ledger.New(in, &out), variables: map[string]string{}}
	w.all, w.names = counterpart.Named(in, w.ledger, adapterName, func(d device.Device, n int) string {
		if d.Kind == device.Bond || d.Kind == device.VLAN {
			return fmt.Sprintf("%s%d", d.Kind, n+1)
		}
		return ""
	})
	for _, d := range w.all {
		w.device(d)
	}
	if len(w.up) == 0 {
		return render.Output{}, fmt.Errorf("%w that can be written for AIX: %s", render.ErrEmpty, counterpart.Reasons(out))
	}
	for _, d := range w.all {
		for i, r := range d.Routes {
			w.route(d, fmt.Sprintf("routes[%d]", i), r)
		}
	}
	w.options()
	out.Add(upPath, 0o700, w.script())
	out.Add(downPath, 0o700, w.rollback())
	w.ledger.Finish("AIX has no attribute for it",
		ledger.Reason{Keys: "sysctl.", Why: "AIX has no counterpart of this tunable"},
		ledger.Reason{Keys: "parameters.mii-monitor parameters.up-delay parameters.down-delay", Why: "an EtherChannel follows the adapters' link state by itself: there is nothing to set"},
		ledger.Reason{Keys: "parameters. bonding.", Why: "an EtherChannel has no such attribute"},
		ledger.Reason{Keys: "routing-policy source_rules", Why: "AIX has no routing by source"},
		ledger.Reason{Keys: "mptcp.", Why: "AIX has no MPTCP"},
		ledger.Reason{Keys: "absent", Why: "remove it with rmdev -dl"},
	)
	return out, nil
}

func (w *writer) do(up, down string) {
	w.up = append(w.up, up)
	if down != "" {
		w.down = append(w.down, down)
	}
}

func (w *writer) note(format string, args ...any) {
	w.up = append(w.up, "", "# "+fmt.Sprintf(format, args...))
}

func (w *writer) device(d device.Device) {
	w.ledger.Say(d.ID, string(d.Kind), "match", "set-name")
	switch d.Kind {
	case device.Ethernet:
		w.adapter(d)
		if d.Master == "" {
			w.variables[d.Handle()] = w.names.Own(d)
		}
	case device.Bond:
		if !w.channel(d) {
			return
		}
	case device.VLAN:
		if !w.vlan(d) {
			return
		}
	default:
		w.ledger.LeaveOut(d.ID, string(d.Kind), "only physical adapters, EtherChannels and VLANs are written")
		return
	}
	if d.Master == "" {
		w.interfaceOf(d)
	}
}

// adapter sets what a physical adapter must have before it is a port: it
// cannot be changed afterwards.
func (w *writer) adapter(d device.Device) {
	name := w.names.Own(d)
	var attributes []string
	set := func(key, attribute, value string) {
		if !slices.ContainsFunc(attributes, func(a string) bool { return strings.HasPrefix(a, attribute+"=") }) {
			attributes = append(attributes, attribute+"="+value)
		}
		w.ledger.Say(d.ID, key)
	}
	if counterpart.MTU(d, w.all) > 1500 {
		set("mtu", "jumbo_frames", "yes")
	}
	for _, key := range slices.Sorted(maps.Keys(d.Settings.Offloads)) {
		if word, ok := offloads[key]; ok {
			set("offloads."+key, word, map[bool]string{true: "yes", false: "no"}[d.Settings.Offloads[key]])
		}
	}
	if n := d.Settings.RingRx; n != 0 {
		if n > 4096 {
			w.ledger.Cannot(d.ID, "rings.rx", "rxdesc_que_sz goes up to 4096")
		} else {
			set("rings.rx", "rxdesc_que_sz", strconv.Itoa(n))
		}
	}
	if counterpart.MTU(d, w.all) > 0 && counterpart.MTU(d, w.all) <= 1500 {
		w.ledger.Say(d.ID, "mtu") // the interface's own line says it, or it is the default
	}
	if d.Master == "" && attributes == nil {
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
func (w *writer) change(device string, there bool, attributes ...string) {
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

// backupMode is an EtherChannel's that uses one adapter, which is made with a
// backup adapter.
const backupMode = "netif_backup"

// channel makes an EtherChannel, or changes the one that has these adapters.
func (w *writer) channel(d device.Device) bool {
	ports := w.names.Of(counterpart.PortsInOrder(w.in, d, w.ledger))
	attributes := []string{}
	system, _ := bondopt.SystemOf(bondopt.AIX)
	own, known := system.Mode(d.Mode())
	mode := own.Word
	switch {
	case known && mode != backupMode:
		attributes = append(attributes, "adapter_names="+strings.Join(ports, ","), "mode="+mode)
	case known && len(ports) == 2:
		mode = ""
		attributes = append(attributes, "adapter_names="+ports[0], "backup_adapter="+ports[1])
		ports = ports[:1]
	default:
		w.ledger.LeaveOut(d.ID, d.Options[0].Key, "an EtherChannel has no counterpart of mode "+d.Mode()+" with these ports; left out")
		return false
	}
	w.ledger.Say(d.ID, d.Options[0].Key, "interfaces")
	o, said := d.Option("xmit_hash_policy")
	policy, ok := system.Policy(o.Value)
	switch hash := policy.Word; {
	case mode == "" || mode == "round_robin":
	case !said:
		attributes = append(attributes, "hash_mode=default")
	case !ok:
		w.ledger.Cannot(d.ID, o.Key, "an EtherChannel has no hash like "+o.Value+": its default, by the destination's address, is used")
		attributes = append(attributes, "hash_mode=default")
	default:
		attributes = append(attributes, "hash_mode="+hash)
		w.ledger.Say(d.ID, o.Key)
		if hash == "default" && !bondopt.Foreign(w.in.Host.System) {
			w.ledger.Cannot(d.ID, o.Key, "hash_mode=default reads the destination's last byte alone: to one host all traffic takes one link; layer3+4 is src_dst_port")
		}
	}
	if o, ok := d.Option("lacp_rate"); ok && mode == "8023ad" {
		attributes = append(attributes, "interval="+map[bool]string{true: "short", false: "long"}[o.Value == "fast"])
		w.ledger.Say(d.ID, o.Key)
	}
	if counterpart.MTU(d, w.all) > 1500 {
		attributes = append(attributes, "use_jumbo_frame=yes")
	}
	v := fmt.Sprintf("ec%d", len(w.variables)+1)
	w.variables[d.Handle()] = "$" + v
	w.note("smitty etherchannel: %s", shell.OneLine(d.ID))
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

func (w *writer) vlan(d device.Device) bool {
	base, ok := w.variables[d.Parent]
	if !ok {
		w.ledger.LeaveOut(d.ID, "link", "left out, since "+d.Parent+" is")
		return false
	}
	v := fmt.Sprintf("vlan%d", len(w.variables)+1)
	w.variables[d.Handle()] = "$" + v
	w.ledger.Say(d.ID, "id", "link")
	w.note("smitty vlan: %s", shell.OneLine(d.ID))
	find := fmt.Sprintf(`%s=$(vlan_of "%s" %d)`, v, base, d.Tag)
	w.up = append(w.up, find, `if [ -z "$`+v+`" ]; then`,
		fmt.Sprintf(`  %s=$(mkdev -c adapter -s vlan -t eth -a base_adapter="%s" -a vlan_tag_id=%d | awk '{print $1}')`, v, base, d.Tag), `  made "$`+v+`"`, "fi", "cfgmgr")
	w.find = append(w.find, find)
	w.down = append(w.down, `[ -z "$`+v+`" ] || unmake "$`+v+`" || true`)
	return true
}

// interfaceOf configures the interface of an adapter: MTU, addresses, and the
// buffers of its own.
func (w *writer) interfaceOf(d device.Device) {
	name := w.variables[d.Handle()]
	en := "en" + strings.TrimPrefix(name, "ent")
	if v, made := strings.CutPrefix(name, "$"); made {
		en = `"en${` + v + `#ent}"`
	}
	mtu := counterpart.MTU(d, w.all)
	w.note("smitty chinet: %s", shell.OneLine(d.ID))
	if mtu != 0 {
		w.change(en, true, fmt.Sprintf("mtu=%d", mtu))
		w.ledger.Say(d.ID, "mtu")
	}
	if i, asked := isnoOf(w.in, mtu, w.ledger); asked {
		w.change(en, true, i.attributes()...)
	}
	had := map[bool]bool{}
	for _, a := range d.Addresses {
		w.ledger.Say(d.ID, "addresses")
		v4 := a.Addr().Is4()
		switch {
		case v4 && !had[v4]:
			w.change(en, true, "netaddr="+a.Addr().String(), "netmask="+counterpart.Netmask(a), "state=up")
		case v4:
			alias := a.Addr().String() + "," + counterpart.Netmask(a)
			w.do("chdev -l "+en+" -a alias4="+alias, "chdev -l "+en+" -a delalias4="+alias+" || true")
		case !had[v4]:
			w.change(en, true, "netaddr6="+a.Addr().String(), fmt.Sprintf("prefixlen=%d", a.Bits()), "state=up")
		default:
			w.do("chdev -l "+en+" -a alias6="+a.String(), "chdev -l "+en+" -a delalias6="+a.String()+" || true")
		}
		had[v4] = true
	}
}

func (w *writer) route(d device.Device, key string, r fabric.Route) {
	via := d.Via(r)
	switch {
	case w.variables[d.Handle()] == "":
		return
	case device.Table(r.Table) != device.MainTable:
		w.ledger.Cannot(d.ID, key, fmt.Sprintf("table %d: AIX has one routing table", r.Table))
		return
	case !via.IsValid() || r.Type != "" && r.Type != "unicast":
		w.ledger.Cannot(d.ID, key, "routes kept in the ODM have a gateway here, and are unicast: use route(8)")
		return
	}
	w.ledger.Say(d.ID, key, key+".table")
	attribute, text := "route", "net,-hopcount,0,"
	switch {
	case !via.Is4():
		attribute = "rout6"
		text += fmt.Sprintf("-prefixlen,%d,%s,%s", r.To.Bits(), r.To.Addr(), via)
	case r.To.Bits() == 0:
		text += ",0," + via.String()
	default:
		text += fmt.Sprintf("-netmask,%s,%s,%s", counterpart.Netmask(r.To), r.To.Addr(), via)
	}
	w.note("smitty mkroute: %s by %s", r.To, via)
	w.do("chdev -l inet0 -a "+attribute+"="+text, "chdev -l inet0 -a del"+attribute+"="+text+" || true")
}

// options are no(1)'s, for the whole system; the old ones stay in a file.
func (w *writer) options() {
	all := counterpart.Sysctls(w.in, w.ledger, noOptions)
	if send, asked := isnoOf(w.in, 9000, w.ledger); asked && max(send.send, send.receive) > 1048576 {
		// A socket's buffer is never above sb_max, whatever an interface says.
		if most := 2 * max(send.send, send.receive); counterpart.Number(all["sb_max"]) < most {
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
