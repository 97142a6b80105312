package change

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// Proof names one thing that is looked at after a change.
type Proof string

// The proofs, in the order in which they are made.
const (
	ProofState   Proof = "state"   // every field reads back as wanted
	ProofPartner Proof = "partner" // LACP partners in sync on every port
	ProofReach   Proof = "reach"   // who answered before answers
	ProofMTU     Proof = "mtu"     // frames of the wanted size pass, both ways
	ProofTraffic Proof = "traffic" // bytes seen on every link that should carry some
)

// Proofs lists them.
func Proofs() []Proof { return []Proof{ProofState, ProofPartner, ProofReach, ProofMTU, ProofTraffic} }

// Verdict is how a proof came out.
type Verdict string

// The verdicts. Impossible is a proof for which something is missing: a far
// end that nobody reaches, a mode that lets nobody foresee the link.
const (
	Passed     Verdict = "held" // the word of the JSON
	Broken     Verdict = "broken"
	Impossible Verdict = "impossible"
)

// Proved is one proof's result.
type Proved struct {
	Proof   Proof   `json:"proof"`
	What    string  `json:"what"` // "a: bond0", "a to b"
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail,omitempty"`
}

// String is the result on one line.
func (p Proved) String() string {
	verdict := string(p.Verdict)
	if p.Verdict == Passed {
		verdict = "passed"
	}
	s := fmt.Sprintf("%-10s %s: %s", verdict, p.Proof, p.What)
	if p.Detail != "" {
		s += ": " + p.Detail
	}
	return s
}

// patience is how long a proof may take to come true: ports join their
// aggregator some seconds after they come up, and with slow LACPDUs up to 30 s
// (IEEE 802.1AX, Slow_Periodic_Time) later.
const (
	patience    = 10 * time.Second
	lacpPatient = 45 * time.Second
	// mostSpare is left of the deadline for the confirmation; of a short one a third.
	mostSpare = 5 * time.Second
	look      = 500 * time.Millisecond
)

// prove looks at the hosts until all holds or the patience ends.
func (c *Change) prove(ctx context.Context, out *Outcome, before surroundings, o Options) error {
	c.cfg.Tell("prove: state, partners, reach, MTU, traffic")
	deadline := out.ConfirmBy.Add(-min(mostSpare, o.Deadline/3))
	if time.Now().After(deadline) {
		return fmt.Errorf("%w: %w", ErrRolledBack, ErrTooLate)
	}
	limited, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	after, settled, err := c.settle(limited, o.Accept)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRolledBack, err)
	}
	out.Proofs = append(settled, c.reached(limited, before, after)...)
	if !broken(out.Proofs, o.Accept) {
		out.Proofs = append(out.Proofs, c.mtus(limited, before, after)...)
	}
	if !broken(out.Proofs, o.Accept) {
		out.Proofs = append(out.Proofs, c.traffic(limited, after)...)
	}
	for _, p := range out.Proofs {
		c.cfg.Tell("  " + p.String())
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if broken(out.Proofs, o.Accept) {
		return fmt.Errorf("%w: %s", ErrRolledBack, firstBroken(out.Proofs, o.Accept))
	}
	return nil
}

func broken(all []Proved, accept []Proof) bool { return firstBroken(all, accept) != "" }

func firstBroken(all []Proved, accept []Proof) string {
	for _, p := range all {
		if p.Verdict == Broken && !slices.Contains(accept, p.Proof) {
			return fmt.Sprintf("not proven (%s): %s: %s", p.Proof, p.What, p.Detail)
		}
	}
	return ""
}

// settle observes until state and partners hold, with patience; with more of it
// for partners, but where they may as well stay away.
func (c *Change) settle(ctx context.Context, accept []Proof) (after predict.Fabric, proofs []Proved, err error) {
	begun := time.Now()
	for {
		if after, err = c.observe(ctx); err != nil {
			return after, nil, err
		}
		states, partners := c.states(after), c.partners(after)
		proofs = slices.Concat(states, partners)
		waited := time.Since(begun)
		if !broken(proofs, nil) || (broken(states, nil) || !broken(proofs, accept)) && waited > patience || waited > lacpPatient {
			return after, proofs, nil
		}
		select {
		case <-ctx.Done():
			if len(proofs) > 0 {
				return after, proofs, nil
			}
			return after, proofs, ctx.Err()
		case <-time.After(look):
		}
	}
}

// states compares every host with what was wanted, field by field.
func (c *Change) states(after predict.Fabric) []Proved {
	var proofs []Proved
	for _, part := range c.parts {
		p := Proved{Proof: ProofState, What: part.Name, Verdict: Passed, Detail: unit.Counted(len(part.Plan.Steps), "change") + " read back"}
		rest, err := plan.Between(after.Hosts[part.Name], c.want[part.Name])
		switch {
		case err != nil:
			p.Verdict, p.Detail = Broken, err.Error()
		case len(rest.Steps) > 0:
			p.Verdict, p.Detail = Broken, "reads back otherwise: "+rest.Steps[0].Change()
		}
		proofs = append(proofs, p)
	}
	return proofs
}

// partners looks at the LACP bonds that the change touched.
func (c *Change) partners(after predict.Fabric) []Proved {
	var proofs []Proved
	for _, part := range c.parts {
		touched := c.touched(part.Name)
		host := after.Hosts[part.Name]
		for _, l := range host.Links {
			if l.Bond == nil || l.Bond.Mode != netstate.LACP || !l.Up || c.portless(part.Name, l) || !(touched[l.Name] || slices.ContainsFunc(l.Bond.Ports, func(p string) bool { return touched[p] })) {
				continue
			}
			p := Proved{Proof: ProofPartner, What: part.Name + ": " + l.Name, Verdict: Passed}
			if why := outOfSync(host, l); why != "" {
				p.Verdict, p.Detail = Broken, why
				if was, ok := c.before.Hosts[part.Name].Link(l.Name); ok && was.Bond != nil && outOfSync(c.before.Hosts[part.Name], was) != "" {
					p.Verdict, p.Detail = Impossible, why+", as before"
				}
			} else {
				p.Detail = fmt.Sprintf("%s in sync with %s", unit.Counted(l.Bond.AD.Ports, "port"), l.Bond.AD.PartnerMAC)
			}
			proofs = append(proofs, p)
		}
	}
	return proofs
}

// portless reports a bond that has no port and is to have none.
func (c *Change) portless(host string, bond netstate.Link) bool {
	want, ok := c.want[host].Link(bond.Name)
	return ok && want.Bond != nil && len(want.Bond.Ports) == 0 && len(bond.Bond.Ports) == 0
}

// inUse are the bits of a LACP port that carries traffic both ways.
const inUse = netstate.LACPSync | netstate.LACPCollecting | netstate.LACPDistributing

// outOfSync says what a bond in 802.3ad lacks; "" nothing. Ports without
// carrier are a finding of their own, not of this change.
func outOfSync(h netstate.Host, bond netstate.Link) string {
	ad := bond.Bond.AD
	switch {
	case len(bond.Bond.Ports) == 0:
		return "it has no ports"
	case ad == nil || ad.PartnerMAC.IsZero():
		return "no LACP partner answers"
	}
	var out []string
	for _, name := range bond.Bond.Ports {
		l, ok := h.Link(name)
		if !ok || !l.Carrier || l.Port == nil {
			continue
		}
		if l.Port.AggregatorID != ad.ID || l.Port.ActorState&inUse != inUse || l.Port.PartnerState&netstate.LACPSync == 0 {
			out = append(out, name)
		}
	}
	if len(out) > 0 {
		return strings.Join(out, ", ") + " not in sync in the active aggregator"
	}
	return ""
}
