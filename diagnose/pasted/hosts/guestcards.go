package hosts

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// bsdGuestCard are the names that FreeBSD gives a hypervisor's cards.
var bsdGuestCard = regexp.MustCompile(`^(?:vtnet|vmx|hn|xn)\d`)

// guestInterrupt are the names of such a card's interrupt.
var guestInterrupt = regexp.MustCompile(`(?:virtio_pci|vtnet|vmx|\bhn|\bxn)\d`)

// guestDrivers are those of Linux for paravirtual cards.
var guestDrivers = map[string]string{"virtio_net": "virtio", "vmxnet3": "vmxnet3", "hv_netvsc": "hv_netvsc (Hyper-V)", "xen_netfront": "Xen", "netfront": "Xen"}

// bsdTunnel reports a host of FreeBSD with a link that cards do not hash: PPPoE and
// other tunnels.
func bsdTunnel(h *piece.Host) bool {
	for _, name := range h.Subjects("link") {
		if scene.Contains(name, "pppoe", "ppp", "gif", "gre", "wg", "tun", "ipsec", "ovpn", "ng") {
			return true
		}
	}
	return false
}

// guest: a virtual card whose one core or thread is full.
func guest(v *scene.View) {
	for _, h := range v.Hosts {
		card := ""
		for _, name := range h.Subjects("link") {
			if bsdGuestCard.MatchString(name) {
				card = name
			}
		}
		if card == "" {
			continue
		}
		for _, p := range h.Processes {
			if p.CPU < 80 || scene.Contains(p.Name, "idle") {
				continue
			}
			sure := 0.8
			evidence := []record.Evidence{scene.Saw(p.Name, fmt.Sprintf("%.0f %% of a core", p.CPU), p.Source)}
			if guestInterrupt.MatchString(p.Name) {
				sure = 0.88
			}
			if queues, at, ok := bsdQueues(h, card); ok && queues == 1 {
				evidence = append(evidence, scene.Saw("queues of "+card, "1", at))
			}
			v.Add(record.ReceiverCPU, sure, h, card+" in the guest "+scene.NameOf(h),
				fmt.Sprintf("%s is a virtual card (virtio) of a guest (VM), and one core of the guest is full with its interrupts (%s): that core limits.", card, p.Name),
				"Give the virtual card more queues, turn its offloads on where the guest's system handles them, or pass a real card through (passthrough, SR-IOV).", evidence...)
			break
		}
	}
}

// bsdQueues is how many pairs of queues FreeBSD uses on a virtio card.
func bsdQueues(h *piece.Host, card string) (n float64, at piece.Source, ok bool) {
	for _, key := range []string{"act_vq_pairs", "max_vq_pairs"} {
		if n, at, ok = scene.Number(h, "sysctl", "dev.vtnet."+strings.TrimPrefix(card, "vtnet")+"."+key); ok {
			return n, at, true
		}
	}
	return 0, piece.Source{}, false
}

// paravirtual is a guest's card as far as it was read.
type paravirtual struct {
	host     *piece.Host
	name     string
	kind     string
	queues   int  // 0 not read
	bare     bool // its checksum and segmentation offloads are off
	evidence []record.Evidence
}

// paravirtualCards are those of the case: by the guest's own drivers, and by what the
// hypervisor is told of its guests.
func paravirtualCards(v *scene.View) (out []paravirtual) {
	var declared []paravirtual
	for _, h := range v.Case.Hosts {
		for _, name := range h.Subjects("vnic") {
			model, ok := h.Get("vnic "+name, "model")
			if !ok || !strings.HasPrefix(model.Text, "virtio") {
				continue
			}
			c := paravirtual{host: h, name: name, kind: "virtio", queues: 1, evidence: []record.Evidence{scene.Saw("model of "+name, model.Text+", no number of queues", model.Source)}}
			if x, ok := h.Get("vnic "+name, "queues"); ok {
				c.queues = max(piece.Atoi(x.Text), 1)
				c.evidence[0] = scene.Saw("queues of "+name, x.Text, x.Source)
			}
			declared = append(declared, c)
		}
	}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			c := paravirtual{host: h, name: name, kind: guestDrivers[scene.Word(h, name, "driver")]}
			if channels, at, ok := scene.Number(h, "link "+name, "channels"); ok && channels >= 1 {
				c.queues = int(channels)
				c.evidence = append(c.evidence, scene.Saw("queues of "+name, fmt.Sprintf("%.0f (Combined)", channels), at))
				if c.kind == "" && len(declared) > 0 {
					c.kind = "virtio" // the guest of that configuration
				}
			}
			if bsdGuestCard.MatchString(name) {
				c.kind = "virtio"
				if !strings.HasPrefix(name, "vtnet") {
					c.kind = "paravirtual"
				}
				if n, at, ok := bsdQueues(h, name); ok {
					c.queues = int(n)
					c.evidence = append(c.evidence, scene.Saw("queues of "+name, fmt.Sprintf("%.0f", n), at))
				}
				if x, ok := h.Get("link "+name, "options"); ok && !scene.Contains(x.Text, "txcsum", "tso4") {
					c.bare = true
					c.evidence = append(c.evidence, scene.Saw("options of "+name, x.Text, x.Source))
				}
			}
			if c.kind != "" {
				out = append(out, c)
			}
		}
	}
	if len(out) == 0 {
		return declared
	}
	return out
}

// leastOfGuest is a rate from which one queue's thread may be what limits a guest; below
// it is something else, where its offloads are on.
const leastOfGuest = 3 * unit.Gbps

// guestQueue: a guest whose card has one queue, beside hosts that are faster.
func guestQueue(v *scene.View) {
	cards := paravirtualCards(v)
	for _, c := range cards {
		if c.queues > 1 {
			return // another card of the same guest is no proof against the one that has them
		}
	}
	for _, c := range cards {
		if c.queues == 0 && !c.bare {
			continue
		}
		slow, fast := slowerRun(v)
		if slow.Rate == 0 || fillsLink(v, slow) || slow.Rate > 40*unit.Gbps {
			continue
		}
		if slow.Rate < leastOfGuest && (!c.bare || fast.Rate == 0 && !nearPeer(c, slow)) {
			continue
		}
		if provider, _ := instanceOf(v, c.host); provider.Text != "" {
			continue // what a cloud gives its guests is its own
		}
		sure, evidence := 0.5, append(c.evidence, scene.Saw(slow.Tool, slow.Rate.String(), slow.Source))
		beside := ""
		if fast.Rate > 0 {
			sure = 0.6
			evidence = append(evidence, scene.Saw(fast.Tool+", another path", fast.Rate.String(), fast.Source))
			beside = fmt.Sprintf(", while another path comes to %v", fast.Rate)
		}
		cause, _ := guestWay(v, c.host)
		switch from, to := scene.Sides(slow); {
		case from != "" && from == c.host.Name:
			cause = record.SenderCPU
		case to != "" && to == c.host.Name, from != "" && !hypervisor(v, from):
			cause = record.ReceiverCPU
		}
		thread := "one thread of the hypervisor"
		if c.kind == "virtio" {
			thread += " (vhost)"
		}
		how := "has one queue: " + thread + " and one vCPU of the guest handle all its packets"
		if c.queues == 0 {
			how = "has its checksum and segmentation offloads off: the guest and the hypervisor's thread (vhost) handle each packet singly, on one core"
		}
		v.Add(cause, sure, c.host, c.name+" (the guest's "+c.kind+" card)",
			fmt.Sprintf("%s, the %s card of a guest (VM), %s. The guest came to %v%s: that thread or core is what limits it most likely, not the links.", c.name, c.kind, how, slow.Rate, beside),
			guestRemedy(c), evidence...)
		return
	}
}

// nearPeer reports a run whose other end is in the network of a guest's card: no line to
// a provider lies between.
func nearPeer(c paravirtual, r piece.Run) bool {
	peer := peerOf(r)
	for _, a := range scene.Addresses(c.host) {
		if a.Link == c.name && peer.IsValid() && a.Prefix.Masked().Contains(peer) {
			return true
		}
	}
	return false
}

// hypervisor reports a host that has guests' cards.
func hypervisor(v *scene.View, name string) bool {
	h := v.HostOf(name)
	return h != nil && len(h.Subjects("vnic")) > 0
}

// slowerRun is the slowest run of TCP, and the fastest one where that is clearly faster.
func slowerRun(v *scene.View) (slow, fast piece.Run) {
	for _, r := range v.Case.Runs {
		if r.Rate == 0 || r.UDP || r.Error != "" || !r.OfNetwork() {
			continue
		}
		if slow.Rate == 0 || r.Rate < slow.Rate {
			slow = r
		}
		if r.Rate > fast.Rate {
			fast = r
		}
	}
	if float64(fast.Rate) < 1.3*float64(slow.Rate) {
		fast = piece.Run{}
	}
	return slow, fast
}

// guestRemedy is what proves a guest's one thread, and what helps.
func guestRemedy(c paravirtual) string {
	inside, more := "`mpstat -P ALL 1` in the guest", fmt.Sprintf("then `ethtool -L %s combined 4` in the guest", linkOr(c, "eth0"))
	if bsdGuestCard.MatchString(c.name) {
		inside, more = "`top -aSHP` in the guest", "`hw.vtnet.mq_disable=0` in the guest's loader.conf"
	}
	where := "libvirt: `<driver name='vhost' queues='4'/>`; Proxmox: `queues=4` at the card"
	proof := "`top -H` on the hypervisor (vhost-PID near 100 %)"
	if c.kind == "vmxnet3" || strings.HasPrefix(c.kind, "hv_") || c.kind == "paravirtual" {
		where, proof = "more vCPUs and RSS in the guest", "the hypervisor's own view of its threads (esxtop on ESXi)"
	}
	remedy := fmt.Sprintf("While it runs look at %s and %s: that decides it. Then give the card several queues (%s, %s), or pass a card through (SR-IOV).", proof, inside, where, more)
	if c.bare {
		remedy += " Turn the card's checksum, TSO and LRO offloads on where the guest does not forward, as a test."
	}
	return remedy
}

func linkOr(c paravirtual, other string) string {
	if strings.ContainsRune(c.name, '/') {
		return other
	}
	return c.name
}
