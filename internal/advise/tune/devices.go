package tune

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// joiners are the offloads that let the stack handle many packets as one, in
// the order in which one needs the other (ethtool's short names).
var joiners = [...]string{"sg", "tx", "tso", "gso", "gro"}

// zeroCopyOptions: the sender's core does not copy.
func zeroCopyOptions(s State) []option {
	if s.ZeroCopy {
		return nil
	}
	load := s.Load
	load.ZeroCopy = true
	return []option{{load: load, change: "zero-copy sending (sendfile)", why: "the sender's core is full, and a copy from program to kernel is much of what it does"}}
}

// offloadOptions: offloads that somebody turned off, and that can be on.
func offloadOptions(s State) []option {
	return deviceOptions(s, "", "each packet costs a core its own way through the stack without them", func(l *netstate.Link) string {
		var on []string
		for _, key := range joiners {
			if is, known := l.Offloads[key]; !known || is || l.Device != nil && slices.Contains(l.Device.Fixed, key) {
				continue
			}
			l.Offloads[key] = true
			on = append(on, key)
		}
		if len(on) == 0 {
			return ""
		}
		return "offloads " + strings.Join(on, ", ") + " on"
	})
}

// coalescingOptions: fewer interrupts where they come one a packet.
func coalescingOptions(s State) []option {
	return deviceOptions(s, "", "an interrupt for every few packets fills the core that takes them", func(l *netstate.Link) string {
		if l.Device == nil {
			return ""
		}
		if adaptive, known := l.Device.Coalescing["adaptive-rx"]; !known || adaptive == 1 {
			return ""
		}
		l.Device.Coalescing["adaptive-rx"] = 1
		return "adaptive interrupt moderation"
	})
}

// ringOptions: larger receive rings on ports that had no room for packets.
func ringOptions(s State) []option {
	t, ok := newest(s, s.Traffic.Direction)
	if !ok {
		return nil
	}
	return deviceOptions(s, "", "the device had no room for packets that came", func(l *netstate.Link) string {
		missed := slices.ContainsFunc(t.Links, func(u record.LinkUse) bool { return u.Link == l.Name && u.RxMissed > 0 })
		if !missed || l.Device == nil || l.Device.Rings == nil || l.Device.Rings.Rx >= l.Device.Rings.RxMax {
			return ""
		}
		l.Device.Rings.Rx = l.Device.Rings.RxMax
		return fmt.Sprintf("receive rings of %d", l.Device.Rings.Rx)
	})
}

// fullCore is the share of a core from which on it is full.
const fullCore = 0.9

// channelOptions: more queues where one core takes all packets.
func channelOptions(s State) []option {
	t, ok := newest(s, s.Traffic.Direction)
	if !ok || !slices.ContainsFunc(t.CPU, func(c record.CPUUse) bool { return c.Busiest >= fullCore && c.Cores > 1 }) {
		return nil
	}
	return deviceOptions(s, "", "one core is full with packets while others are idle", func(l *netstate.Link) string {
		if l.Device == nil || l.Device.Channels == nil {
			return ""
		}
		c := l.Device.Channels
		if c.Combined == 0 || c.Combined >= c.CombinedMax {
			return ""
		}
		c.Combined = c.CombinedMax
		return fmt.Sprintf("%d queues", c.Combined)
	})
}

// queueOptions: fq on ports whose queue is the kernel's own choice: it spaces
// the packets of a stream.
func queueOptions(s State) []option {
	return rootQueue(s, "fq", "fq spaces each stream's packets, and shares the port by stream")
}

func rootQueue(s State, kind, why string) []option {
	return deviceOptions(s, Name(fmt.Sprintf("%s=%s", Queueing, kind)), why, func(l *netstate.Link) string {
		i := slices.IndexFunc(l.Qdiscs, func(q netstate.Qdisc) bool { return q.Parent == "root" })
		if i < 0 || l.Qdiscs[i].Handle != "0:" || l.Qdiscs[i].Kind == "noqueue" || l.Qdiscs[i].Kind == kind {
			return "" // somebody's own, or a link without a queue
		}
		l.Qdiscs = []netstate.Qdisc{{Kind: kind, Handle: "1:", Parent: "root"}}
		return "queueing discipline " + kind
	})
}

// pacingOptions: streams held to what a shaper lets through: what it throws
// away needs not be sent.
func pacingOptions(s State) []option {
	t, ok := newest(s, s.Traffic.Direction)
	if !ok || t.Shaper == nil || s.Traffic.Pace > 0 {
		return nil
	}
	ways := len(s.Traffic.Direction.Ways())
	load := s.Load
	load.Traffic.Pace = paceShare * t.Shaper.Rate / unit.BitRate(s.Traffic.Streams*max(ways, 1))
	return []option{{load: load, change: fmt.Sprintf("each stream paced at %v", load.Traffic.Pace),
		why: fmt.Sprintf("a shaper lets %v through and drops the rest", t.Shaper.Rate)}}
}

// paceShare of a shaper's rate leaves its queue empty.
const paceShare = 0.99

// deviceOptions is one option that changes the physical links of the pair; none
// where the change finds nothing to change. Change returns what it did.
func deviceOptions(s State, key Name, why string, change func(*netstate.Link) string) []option {
	below := func(h netstate.Host, name string) []netstate.Link {
		ports, _, _ := h.Below(name)
		return ports
	}
	hosts, changed := changedLinks(s, below, func(host string, port *netstate.Link) string {
		what := change(port)
		if what == "" {
			return ""
		}
		return fmt.Sprintf("%s on %s of %s", what, port.Name, host)
	})
	if len(hosts) == 0 {
		return nil
	}
	return []option{{key: key, change: strings.Join(changed, " and "), why: why, hosts: hosts, load: s.Load}}
}

// changedLinks are the pair's hosts with links changed that below finds under each
// link that holds an address, and what change says that it did to each; "" is
// nothing.
func changedLinks(s State, below func(h netstate.Host, link string) []netstate.Link, change func(host string, l *netstate.Link) string) (map[string]netstate.Host, []string) {
	hosts := make(map[string]netstate.Host)
	var changed []string
	all := pairLinks(s)
	for _, host := range hostsOf(all) {
		desired := s.Fabric.Hosts[host].Clone()
		for _, l := range all[host] {
			for _, under := range below(desired, l.Name) {
				if what := change(host, &under); what != "" {
					desired.SetLink(under)
					hosts[host] = desired
					changed = append(changed, what)
				}
			}
		}
	}
	return hosts, changed
}
