package answer

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// Bounds of what is asked.
const (
	mostLinks = 64
	mostFlows = 4096
)

// SteerRequest asks which links flows take: the fields of the page's form.
type SteerRequest struct {
	Src    string `json:"src"`
	Dst    string `json:"dst"`
	SrcMAC string `json:"src_mac"` // "" not known
	DstMAC string `json:"dst_mac"` // the next hop's; "" not known
	Links  int    `json:"links"`
	Policy string `json:"policy"`
	// Era is the sender's kernel, by its place in Choices; Kernel its release, such as
	// 6.1, which counts where it is not "".
	Era    int    `json:"era"`
	Kernel string `json:"kernel"`
	Flows  int    `json:"flows"`
	// Dport is the destination port; zero is steer.DefaultDport.
	Dport uint16 `json:"dport"`
}

// Steered is which link each flow takes, and ports that use all links.
type Steered struct {
	Error string `json:"error,omitempty"`
	// Bond says what was computed, for which kernels.
	Bond    string   `json:"bond"`
	Flows   []Flow   `json:"flows"`
	PerLink []int    `json:"per_link"`
	Notes   []string `json:"notes"`
	Chosen  *Chosen  `json:"chosen,omitempty"`
	Names   []string `json:"names"`
	Pair    Ends     `json:"pair"`
}

// Ends are the pair of addresses that all flows have.
type Ends struct {
	Src   netip.Addr `json:"src"`
	Dst   netip.Addr `json:"dst"`
	Dport uint16     `json:"dport"`
}

// Flow is one flow with its link; nil unknown.
type Flow struct {
	Sport uint16 `json:"sport"`
	Hash  string `json:"hash"` // hexadecimal; "" none or unknown
	Link  *int   `json:"link"`
}

// Chosen are source ports that spread the flows as evenly as can be.
type Chosen struct {
	Streams []Flow `json:"streams"`
	Ports   string `json:"ports"` // a list with commas, in the order to start the flows
	PerLink []int  `json:"per_link"`
	Even    bool   `json:"even"`
	Why     string `json:"why,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
}

// Steer answers a request. What is wrong with it is said in Error.
func Steer(q SteerRequest) Steered {
	b, frame, err := q.parse()
	if err != nil {
		return Steered{Error: err.Error()}
	}
	frames := make([]flow.Frame, q.Flows)
	for i := range frames {
		frames[i] = frame
		frames[i].Sport = steer.DefaultFirstPort + uint16(i)
	}
	shown := steer.Show(b, frames)
	out := Steered{Bond: b.Summary(), PerLink: shown.PerLink, Names: b.Ports, Notes: []string{}, Pair: Ends{frame.Src, frame.Dst, frame.Dport}}
	told := map[string]bool{"": true}
	for _, f := range shown.Flows {
		one := Flow{Sport: f.Sport, Link: f.Link}
		if f.Hash != nil {
			one.Hash = fmt.Sprintf("%#08x", *f.Hash)
		}
		out.Flows = append(out.Flows, one)
		if !told[f.Why] {
			told[f.Why] = true
			out.Notes = append(out.Notes, f.Why)
		}
	}
	picked, err := steer.Pick(steer.PickRequest{Near: b, Lanes: []flow.Lane{{Src: frame.Src, Dst: frame.Dst}}, Streams: q.Flows, Dport: frame.Dport, SrcMAC: frame.SrcMAC, DstMAC: frame.DstMAC})
	if err != nil {
		out.Notes = append(out.Notes, err.Error())
		return out
	}
	c := Chosen{PerLink: picked.PerLink, Even: picked.Even, Why: picked.Why, Remedy: picked.Remedy}
	var ports []string
	for _, s := range picked.Streams {
		c.Streams = append(c.Streams, Flow{Sport: s.Sport, Link: steer.NumberOrNull(s.Link)})
		ports = append(ports, strconv.Itoa(int(s.Sport)))
	}
	c.Ports = strings.Join(ports, ",")
	out.Chosen = &c
	return out
}

// parse is the bond and what all flows have in common.
func (q SteerRequest) parse() (b steer.Bundle, f flow.Frame, err error) {
	if q.Links < 1 || q.Links > mostLinks {
		return b, f, fmt.Errorf("number of links: write 1 to %d, not %d", mostLinks, q.Links)
	}
	if q.Flows < 1 || q.Flows > mostFlows {
		return b, f, fmt.Errorf("number of flows: write 1 to %d, not %d", mostFlows, q.Flows)
	}
	policy, ok := policyOf(q.Policy)
	if !ok {
		return b, f, fmt.Errorf("hash policy: %q is none of %s", q.Policy, strings.Join(Policies(), ", "))
	}
	b = steer.Declared(policy, q.Links)
	eras := steer.Eras()
	if q.Era < 0 || q.Era >= len(eras) {
		return b, f, fmt.Errorf("kernel: there is no era %d", q.Era)
	}
	b.Era = eras[q.Era]
	if kernel := strings.TrimSpace(q.Kernel); kernel != "" {
		if steer.ErasOf(kernel) == nil {
			return b, f, fmt.Errorf("kernel: write a release such as 6.1 or 5.15.0-105-generic, not %q", kernel)
		}
		b = b.OfKernel(kernel)
	}
	if f.Src, err = netip.ParseAddr(strings.TrimSpace(q.Src)); err != nil {
		return b, f, fmt.Errorf("source address: write one such as 10.0.0.1, not %q", q.Src)
	}
	if f.Dst, err = netip.ParseAddr(strings.TrimSpace(q.Dst)); err != nil {
		return b, f, fmt.Errorf("destination address: write one such as 10.0.0.2, not %q", q.Dst)
	}
	if steer.Is6(f.Src) != steer.Is6(f.Dst) {
		return b, f, fmt.Errorf("addresses: %s and %s are not of one family", f.Src, f.Dst)
	}
	if f.SrcMAC, err = macOf("MAC address of the sender", q.SrcMAC); err != nil {
		return b, f, err
	}
	if f.DstMAC, err = macOf("MAC address of the next hop", q.DstMAC); err != nil {
		return b, f, err
	}
	f.Proto, f.Dport = flow.TCP, q.Dport
	if f.Dport == 0 {
		f.Dport = steer.DefaultDport
	}
	return b, f, nil
}

func macOf(what, text string) (m flow.MAC, err error) {
	if text = strings.TrimSpace(text); text == "" {
		return m, nil
	}
	if m, err = flow.ParseMAC(text); err != nil {
		return m, fmt.Errorf("%s: write one such as 52:54:00:00:00:01, not %q", what, text)
	}
	return m, nil
}

func policyOf(word string) (netstate.HashPolicy, bool) {
	for _, p := range netstate.HashPolicies() {
		if p.String() == word {
			return p, true
		}
	}
	return 0, false
}

// Policies are the words of the transmit hash policies.
func Policies() (out []string) {
	for _, p := range netstate.HashPolicies() {
		out = append(out, p.String())
	}
	return out
}

// Choices are what the form lets choose from.
type Choices struct {
	Policies []string `json:"policies"`
	Eras     []string `json:"eras"` // the newest first
}

// Offered are the choices there are.
func Offered() Choices {
	c := Choices{Policies: Policies()}
	for _, e := range steer.Eras() {
		c.Eras = append(c.Eras, e.String())
	}
	return c
}
