package cards

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// queuePairs: RDMA over bonds, by its own tests and by NCCL's.
func queuePairs(v *scene.View) {
	for _, r := range v.Case.Runs {
		queuePair(v, r)
	}
	for _, h := range v.Hosts {
		ncclBond(v, h)
	}
	ncclBelow(v)
}

// queuePair: an RDMA test over a bond with one connection: a queue pair uses one port.
func queuePair(v *scene.View, r piece.Run) {
	device := r.Detail["device"]
	if !strings.Contains(device, "bond") || r.Detail["qps"] != "" && r.Detail["qps"] != "1" {
		return
	}
	sure := 0.8
	evidence := []record.Evidence{scene.Saw(r.Tool, fmt.Sprintf("%s, one queue pair (QP), %v", device, r.Rate), r.Source)}
	for _, more := range v.Case.Runs {
		if more.Rate > r.Rate*15/10 && more.Detail["qps"] != "1" {
			sure = 0.93
			evidence = append(evidence, scene.Saw(more.Tool, fmt.Sprintf("%v with %s queue pairs", more.Rate, cmp.Or(more.Detail["qps"], "more")), more.Source))
		}
	}
	v.Add(record.SingleLink, sure, nil, device+" (one queue pair)",
		fmt.Sprintf("%s is a bond of two ports, and one RDMA connection (queue pair, QP) uses one port of it: a single port's rate is all that one QP gets.", device), moreQPs, evidence...)
}

const moreQPs = "Use more queue pairs: NCCL_IB_QPS_PER_CONNECTION=4 (and NCCL_IB_SPLIT_DATA_ON_QPS=1), `ib_write_bw -q 4`; the port is chosen for each QP, no transmit hash policy of the bond does that."

// bondDevice are the bonds among RDMA devices, as mlx5_bond_0.
var bondDevice = regexp.MustCompile(`\b\w+_bond_?\d+\b`)

// ncclBond: NCCL over RDMA bonds with one queue pair a connection, at one port's rate.
func ncclBond(v *scene.View, h *piece.Host) {
	if h.Facts["nccl"] == nil {
		return
	}
	if x, ok := h.Get("nccl", "NCCL_IB_QPS_PER_CONNECTION"); ok && piece.Atoi(x.Text) > 1 {
		return
	}
	names := make(map[string]bool)
	var at piece.Value
	for _, key := range []string{"devices", "NCCL_IB_HCA"} {
		x, ok := h.Get("nccl", key)
		for _, name := range bondDevice.FindAllString(x.Text, 64) {
			names[name] = ok
			at = x
		}
	}
	if net, ok := h.Get("nccl", "net"); len(names) == 0 || ok && net.Text != "IB" {
		return
	}
	device := slices.Sorted(maps.Keys(names))[0]
	evidence := []record.Evidence{scene.Saw("devices of NCCL", at.Text, at.Source)}
	port, from := portRate(v)
	if port > 0 {
		evidence = append(evidence, from)
	}
	for _, r := range v.Case.Runs {
		if r.Tool != "nccl-tests" || r.Rate == 0 || port == 0 {
			continue
		}
		evidence = append(evidence, scene.Saw("busbw of "+r.Tool, r.Rate.String(), r.Source))
		if r.Rate > port*unit.BitRate(len(names))*115/100 {
			return // more than one port of each bond carries
		}
		v.Add(record.SingleLink, 0.75, h, device+" (one queue pair)",
			fmt.Sprintf("NCCL comes to %v over %d of the RDMA bonds, no more than one port of each (about %v): by default a connection has one queue pair (QP), and one QP uses one port of the bond.", r.Rate, len(names), port), moreQPs, evidence...)
		return
	}
	if len(v.Case.Runs) == 0 {
		v.Add(record.SingleLink, 0.4, h, device+" (one queue pair)",
			fmt.Sprintf("NCCL uses the RDMA bond %s with its default of one queue pair (QP) a connection, and one QP uses one port: a rate of one port would be that. No rate is here.", device), moreQPs, evidence...)
	}
}

// portRate is what one port of an RDMA bond carries: half of what a test with several
// queue pairs came to, else the speed of the bond's ports; zero not known.
func portRate(v *scene.View) (unit.BitRate, record.Evidence) {
	for _, r := range v.Case.Runs {
		if strings.Contains(r.Detail["device"], "bond") && r.Parallel > 1 && r.Rate > 0 {
			return r.Rate / 2, scene.Saw(fmt.Sprintf("%s over %s with %d queue pairs", r.Tool, r.Detail["device"], r.Parallel), r.Rate.String(), r.Source)
		}
	}
	for _, b := range v.Bonds {
		if _, one := b.Speeds(); one > 0 && len(b.Ports) > 1 {
			return one, record.Evidence{What: "ports of " + b.Name, Value: one.String(), Source: "as read"}
		}
	}
	return 0, record.Evidence{}
}

// ncclBelow: NCCL far below what RDMA carries between the same hosts from their memory:
// what differs is the way from the GPU to the card.
func ncclBelow(v *scene.View) {
	if v.Faulty() {
		return
	}
	for _, r := range v.Case.Runs {
		for _, wire := range v.Case.Runs {
			if r.Tool != "nccl-tests" || r.Rate == 0 || wire.Tool == r.Tool || wire.Detail["device"] == "" || strings.Contains(wire.Detail["device"], "bond") || float64(r.Rate) > 0.6*float64(wire.Rate) {
				continue
			}
			v.Add(record.CardSlot, 0.45, v.HostOf(r.Client), "the way from GPU to card",
				fmt.Sprintf("%s carries %v from the hosts' memory, and NCCL comes to %v: the network carries more, so that the way from the GPU to the card is the suspicion (ACS on PCIe bridges, no GPUDirect RDMA, a card at another root).", wire.Tool, wire.Rate, r.Rate),
				"`lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'` as root shows ACS (ReqRedir+: turn it off on the bridges), NCCL_DEBUG=INFO whether channels go by NET/IB/GDRDMA, `nvidia-smi topo -m` which card is near; `ib_write_bw --use_cuda=0` measures that way alone.",
				scene.Saw(wire.Tool, wire.Rate.String(), wire.Source), scene.Saw("busbw of "+r.Tool, r.Rate.String(), r.Source))
			return
		}
	}
}
