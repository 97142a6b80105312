package lab

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/scenario"
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
		byCard := make(map[string][]scenario.Port)
		var names []string
		state, err := s.what.Fabric.State(h.Name)
		if err != nil {
			return err
		}
		for _, l := range state.Links {
			if l.Kind != "" || l.Card == "" {
				continue
			}
			if !slices.Contains(names, l.Card) {
				names = append(names, l.Card)
			}
			byCard[l.Card] = append(byCard[l.Card], scenario.Port{Host: h.Name, Link: l.Name})
		}
		for _, name := range names {
			if out, _, _ := predict.CardRate(h.Hardware.Cards[name], 0, true); out == 0 || len(byCard[name]) < 2 {
				continue
			}
			i := len(s.slots)
			one := slot{host: h.Name, card: name, send: slotName(i, "out"), receive: slotName(i, "in"), shares: byCard[name]}
			for _, funnel := range []string{one.send, one.receive} {
				if err := sw.Funnel(funnel, s.what.LargestMTU()); err != nil {
					return fmt.Errorf("card %s of %s: %w", name, h.Name, err)
				}
			}
			for _, p := range one.shares {
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
// the ports' MTU.
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
			if err := sw.Shape(funnel, rate, bucket(rate), shaperWait); err != nil {
				return err
			}
		}
	}
	return nil
}
