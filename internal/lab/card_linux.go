package lab

import (
	"fmt"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/predict"
)

// slot stands for a card that several of a host's ports share: what they send,
// and what they receive, passes one shaper each way.
type slot struct {
	host, card    string
	send, receive string // funnels, in the switches' namespace
	shares        []scenario.Port
}

// cards puts a slot behind every card with several ports. It is on the
// switch's side of their cables, so that a host sees nothing but its ports.
func (s *Raised) cards() error {
	sw := s.built.builders[switchName]
	for _, h := range s.what.Fabric.Hosts {
		state, err := s.what.Fabric.State(h.Name)
		if err != nil {
			return err
		}
		for _, card := range scenario.SharedCards(h, state) {
			i := len(s.slots)
			one := slot{host: h.Name, card: card.Name, send: slotName(i, "out"), receive: slotName(i, "in")}
			for _, funnel := range []string{one.send, one.receive} {
				if err := sw.Funnel(funnel, s.what.LargestMTU()); err != nil {
					return fmt.Errorf("card %s of %s: %w", card.Name, h.Name, err)
				}
			}
			for _, port := range card.Ports {
				p := scenario.Port{Host: h.Name, Link: port}
				one.shares = append(one.shares, p)
				if err := sw.Divert(s.far[p], one.send, one.receive); err != nil {
					return err
				}
			}
			s.slots = append(s.slots, one)
		}
	}
	return nil
}

// shapeCards gives a host's slots the rates that its cards have for frames of
// the ports' MTU, and no more than the host's core takes in of what is striped.
func (s *Raised) shapeCards(h fabric.Host) error {
	const ethernet = 14 // a frame's header, which a shaper counts too
	sw := s.built.builders[switchName]
	for _, one := range s.slots {
		if one.host != h.Name {
			continue
		}
		mtu, err := s.built.builders[h.Name].MTUOf(one.shares[0].Link)
		if err != nil {
			return err
		}
		for funnel, sends := range map[string]bool{one.send: true, one.receive: false} {
			rate, _, _ := predict.CardRate(h.Hardware.Cards[one.card], mtu+ethernet, sends)
			if core := scenario.CoreRate(h, mtu+ethernet); !sends && core > 0 {
				rate = min(rate, core)
			}
			if err := sw.Shape(funnel, rate, bucket(rate), shaperWait); err != nil {
				return err
			}
		}
	}
	return nil
}
