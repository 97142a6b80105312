package cloud

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/unit"
)

// network is the host's total for its network.
func (j *judge) network() Cap {
	c := j.size.total
	c.Sources = j.table.cite(j.size.names...)
	share := j.query.NetworkShare
	if share == 0 {
		share = j.size.rule.NetworkShare
	}
	if j.size.rule.NetworkShare > 0 {
		all := c.Rate
		c = c.scaled(share)
		c.Why += fmt.Sprintf(", of which %g %% are the network's: %s", share*100, c.Rate)
		if most := all - j.size.rule.VolumesLeast; most > 0 && c.Rate > most {
			c.Rate, c.Low = most, min(c.Low, most)
			c.Why += fmt.Sprintf(", %s since volumes keep %s", most, j.size.rule.VolumesLeast)
		}
	}
	return j.cited(c)
}

func (c Cap) scaled(k float64) Cap {
	n := unit.BitRate(k)
	c.Rate, c.Burst, c.Low, c.High = c.Rate*n, c.Burst*n, c.Low*n, c.High*n
	return c
}

// cited begins a cap's text with the provider and ends it with the sources.
func (j *judge) cited(c Cap) Cap {
	var sources []string
	for _, s := range c.Sources {
		sources = append(sources, s.String())
	}
	c.Why = j.provider.title + ": " + c.Why
	if len(sources) > 0 {
		c.Why += " [" + strings.Join(sources, "; ") + "]"
	}
	return c
}

// each is what one interface gets.
func (j *judge) each(network Cap) Cap {
	switch {
	case j.provider.split:
		return j.part(network)
	case j.size.cards > 1:
		return j.card(network)
	}
	return Cap{}
}

// part is an interface's even part of the network, within its own cap.
func (j *judge) part(network Cap) Cap {
	r := j.size.rule
	n := unit.BitRate(j.interfaces)
	c := network.scaled(1 / float64(n))
	c.Why = fmt.Sprintf("%s over %s is %s each", network.Rate, unit.Counted(j.interfaces, "interface"), c.Rate)
	if r.Interface == 0 {
		return j.cited(c)
	}
	low, high := min(least(c), r.Interface), min(most(c), r.Interface)
	c.Rate = min(c.Rate, r.Interface)
	if r.InterfaceLow > 0 {
		low = min(least(network)/n, r.InterfaceLow)
	}
	if r.InterfaceHigh > 0 {
		high = min(most(network)/n, r.InterfaceHigh)
	}
	c.Why += fmt.Sprintf(", of which an interface takes at most %s", r.Interface)
	c.Low, c.High, c.Burst = 0, 0, 0
	if low < c.Rate {
		c.Low, c.Open = low, r.Note
	}
	if high > c.Rate {
		c.High, c.Open = high, r.Note
	}
	if r.Note != "" && c.Open == "" && c.Rate >= r.Interface {
		c.Why += " (" + r.Note + ")"
	}
	c.Sources = j.table.cite(r.Source)
	return j.cited(c)
}

func least(c Cap) unit.BitRate {
	if c.Low > 0 {
		return c.Low
	}
	return c.Rate
}

func most(c Cap) unit.BitRate { return max(c.Rate, c.High) }

// card is what an interface gets of its network card where an instance has
// several: interfaces on one card share it.
func (j *judge) card(network Cap) Cap {
	n := j.size.cards
	c := network.scaled(1 / float64(n))
	c.Why = fmt.Sprintf("%s over %d network cards is %s each", network.Rate, n, c.Rate)
	if j.interfaces > 1 {
		c.Low = c.Rate / unit.BitRate(j.interfaces)
		c.Open = "which network card an interface is on is not said: taken to be each on its own"
	}
	c.Sources = j.table.cite(j.size.names[0], j.provider.types[j.provider.key(j.query.Instance)].cardsSource)
	return j.cited(c)
}
