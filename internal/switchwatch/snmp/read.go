package snmp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/evidence/switchcount"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Columns of IF-MIB's ifTable and ifXTable (RFC 2863).
const (
	ifTable       = "1.3.6.1.2.1.2.2.1."
	ifDescr       = ifTable + "2"
	ifPhysAddress = ifTable + "6"
	ifOperStatus  = ifTable + "8"
	ifInOctets    = ifTable + "10"
	ifInDiscards  = ifTable + "13"
	ifInErrors    = ifTable + "14"
	ifOutOctets   = ifTable + "16"
	ifOutDiscards = ifTable + "19"
	ifOutErrors   = ifTable + "20"

	ifXTable      = "1.3.6.1.2.1.31.1.1.1."
	ifName        = ifXTable + "1"
	ifHCInOctets  = ifXTable + "6"
	ifHCOutOctets = ifXTable + "10"
	ifHighSpeed   = ifXTable + "15"
	ifAlias       = ifXTable + "18"
	ifSetBack     = ifXTable + "19" // ifCounterDiscontinuityTime

	sysUpTime = "1.3.6.1.2.1.1.3.0"
	sysName   = "1.3.6.1.2.1.1.5.0"

	// IEEE8023-LAG-MIB's dot3adAggPortTable: the aggregate that a port is of, and its state.
	aggPort         = "1.2.840.10006.300.43.1.2.1.1."
	aggPortSelected = aggPort + "12"
	aggPortAttached = aggPort + "13"
	aggPortState    = aggPort + "21"
)

// distributing is the bit of a port's state by which it sends: bit 5 of BITS, of which
// bit 0 is the highest (IEEE 802.1AX, dot3adAggPortActorOperState).
const distributing = 0x80 >> 5

// Find looks for ports by the names that a fabric gives them: the switch's short or long
// names, whatever their case. It says which are not there, and which names there are.
func (c *Client) Find(ctx context.Context, names []string) (missing, have []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	byName := make(map[string]int)
	for _, column := range []string{ifName, ifDescr} {
		err := c.walk(ctx, column, func(index string, value any) {
			n, numErr := strconv.Atoi(index)
			text := textOf(value)
			if numErr != nil || text == "" {
				return
			}
			if _, there := byName[strings.ToLower(text)]; !there {
				byName[strings.ToLower(text)] = n
			}
			if !slices.Contains(have, text) {
				have = append(have, text)
			}
		})
		if err != nil {
			return nil, nil, err
		}
	}
	c.index = make(map[string]int)
	for _, name := range names {
		if n, ok := byName[strings.ToLower(name)]; ok {
			c.index[name] = n
		} else {
			missing = append(missing, name)
		}
	}
	return missing, have, c.kinds(ctx)
}

// kinds finds out what the agent has of the ports: counters of 64 bits, LACP's table.
func (c *Client) kinds(ctx context.Context) error {
	var oids []string
	for _, n := range c.index {
		oids = append(oids, at(ifHCInOctets, n), at(aggPortAttached, n))
	}
	got, err := c.get(ctx, oids)
	if err != nil {
		return err
	}
	c.width, c.lacp = switchcount.NarrowAll, false
	for _, n := range c.index {
		if _, ok := got[at(ifHCInOctets, n)]; ok {
			c.width = switchcount.NarrowErrors
		}
		if _, ok := got[at(aggPortAttached, n)]; ok {
			c.lacp = true
		}
	}
	return nil
}

func at(column string, index int) string { return fmt.Sprintf("%s.%d", column, index) }

// Read reads the counters of the ports that Find found.
func (c *Client) Read(ctx context.Context) (switchcount.Reading, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	in, out := ifHCInOctets, ifHCOutOctets
	if c.width == switchcount.NarrowAll {
		in, out = ifInOctets, ifOutOctets
	}
	columns := []string{in, out, ifInDiscards, ifOutDiscards, ifInErrors, ifOutErrors, ifSetBack, ifHighSpeed}
	if c.lacp {
		columns = append(columns, aggPortAttached, aggPortState)
	}
	oids := []string{sysUpTime}
	for _, n := range c.index {
		for _, column := range columns {
			oids = append(oids, at(column, n))
		}
	}
	got, err := c.get(ctx, oids)
	if err != nil {
		return switchcount.Reading{}, err
	}
	r := switchcount.Reading{At: time.Now(), Up: time.Duration(number(got, sysUpTime)) * 10 * time.Millisecond, Ports: make(map[string]switchcount.Port, len(c.index))}
	for name, n := range c.index {
		all := func(columns ...string) bool {
			return !slices.ContainsFunc(columns, func(column string) bool { _, ok := got[at(column, n)]; return !ok })
		}
		value := func(column string) uint64 { return number(got, at(column, n)) }
		p := switchcount.Port{
			Width: c.width, Since: value(ifSetBack), Speed: unit.BitRate(value(ifHighSpeed)) * unit.Mbps,
			Bytes: all(in, out), Drops: all(ifInDiscards, ifOutDiscards), Errors: all(ifInErrors, ifOutErrors),
			Counters: netstate.Counters{
				RxBytes: value(in), TxBytes: value(out), RxDropped: value(ifInDiscards), TxDropped: value(ifOutDiscards),
				RxErrors: value(ifInErrors), TxErrors: value(ifOutErrors),
			},
		}
		if all(aggPortAttached) {
			attached := value(aggPortAttached) != 0
			if state, ok := got[at(aggPortState, n)].([]byte); ok && len(state) > 0 {
				attached = attached && state[0]&distributing != 0
			}
			p.Attached = &attached
		}
		if p.Bytes || p.Drops || p.Errors {
			r.Ports[name] = p
		}
	}
	return r, nil
}

func number(got map[string]any, oid string) uint64 {
	n, _ := got[oid].(uint64)
	return n
}
