// Package whatif reads changes as `--what-if` takes them, and lays them over a
// fabric on paper. It must never change what it was given.
package whatif

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/unit"
)

// ErrChange is a change that cannot be read, or that the fabric has no place
// for; the error's text names it.
var ErrChange = errors.New("bad what-if")

// Changes is a list of changes to try on paper, such as "mtu=9000,links=4". The
// zero value changes nothing.
type Changes struct {
	changes []change
}

// change is one key with its value, read.
type change struct {
	key, value string
	set        func(*variant) error
}

// variant is a fabric and what is asked of it while changes are laid over it.
type variant struct {
	hosts   map[string]netstate.Host
	paths   []fabric.Path
	measure fabric.Measure
	notes   []string
}

// keyRow is a row of the one table of keys: what it changes, and what it takes. Where
// that is one of a few words, words has them.
type keyRow struct {
	name, doc, takes string
	words            func() []string
	read             func(value string) (func(*variant) error, error)
}

// keys is the one table of keys, in the order that changes are made:
// a bond has to be there before it gets links.
func keys() []keyRow {
	return []keyRow{
		{"mode", "bonding mode; a host with one plain link gets a bond of it", "", modes, readMode},
		{"policy", "transmit hash policy of every bond", "", policies, readPolicy},
		{"switch_hash", "how the far side spreads flows", "", switchHashes, readSwitchHash},
		{"speed", "speed of every port", "a rate such as 25G", nil, rated((*variant).speed)},
		{"links", "ports in every bond; interfaces of a host without one", "a number from 1 to 64", nil, counting(64, (*variant).links)},
		{"mtu", "MTU of every link", "68 to 65535 bytes", nil, readMTU},
		{"rtt", "round trip of every path", "a time such as 9ms", nil, readRTT},
		{"loss", "share of packets that every path loses", "a number from 0 to below 1, such as 0.001", nil, readLoss},
		{"rate", "limit on every path; 0 is none", "a rate such as 25G", nil, rated((*variant).rate)},
		{"rmem", "tcp_rmem's maximum and rmem_max", "a size such as 64Mi", nil, sized((*variant).rmem)},
		{"wmem", "tcp_wmem's maximum and wmem_max", "a size such as 64Mi", nil, sized((*variant).wmem)},
		{"rmem_max", "net.core.rmem_max alone: what SO_RCVBUF may ask for", "a size such as 64Mi", nil, sized((*variant).rmemMax)},
		{"wmem_max", "net.core.wmem_max alone: what SO_SNDBUF may ask for", "a size such as 64Mi", nil, sized((*variant).wmemMax)},
		{"cc", "congestion control", "a name such as bbr", nil, readCongestion},
		{"buffer", "what each socket asks for", "a size such as 8Mi", nil, sized((*variant).buffer)},
		{"streams", "streams, in place of every count", "a number from 1 to 1024", nil, counting(1024, (*variant).streams)},
		{"ports", "source ports", "", portsWords, readPorts},
		{"protocol", "protocol of the streams", "", protocols, readProtocol},
	}
}

func modes() []string    { return texts(netstate.BondModes()) }
func policies() []string { return texts(netstate.HashPolicies()) }
func switchHashes() []string {
	return slices.Compact(slices.Sorted(slices.Values(append(policies(), topology.Words()...))))
}
func portsWords() []string { return []string{predict.PortsChosen, predict.PortsKernel} }
func protocols() []string  { return []string{"tcp", "udp", "mptcp"} }

func texts[T fmt.Stringer](all []T) (words []string) {
	for _, one := range all {
		words = append(words, one.String())
	}
	return words
}

// Keys are the keys that a what-if may hold.
func Keys() (names []string) {
	for _, k := range keys() {
		names = append(names, k.name)
	}
	return names
}

// Parse reads "key=value,key=value". An empty text changes nothing.
// Error: ErrChange.
func Parse(text string) (Changes, error) {
	var w Changes
	if strings.TrimSpace(text) == "" {
		return w, nil
	}
	table := keys()
	for _, part := range strings.Split(text, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(part), "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		i := slices.IndexFunc(table, func(k keyRow) bool { return k.name == key })
		switch {
		case i < 0:
			return Changes{}, &UnknownKeyError{Key: key}
		case !found || value == "":
			return Changes{}, table[i].refuse(part)
		case slices.ContainsFunc(w.changes, func(c change) bool { return c.key == key }):
			return Changes{}, fmt.Errorf("%s: given twice: %w", key, ErrChange)
		}
		set, err := table[i].read(value)
		if err != nil {
			return Changes{}, table[i].refuse(key + "=" + value)
		}
		w.changes = append(w.changes, change{key, value, set})
	}
	return w, nil
}

// UnknownKeyError is a what-if with a key that there is none of.
type UnknownKeyError struct{ Key string }

func (u *UnknownKeyError) Error() string        { return fmt.Sprintf("unknown key %q", u.Key) }
func (u *UnknownKeyError) Is(target error) bool { return target == ErrChange }

// refuse says what a key takes in place of what was written.
func (k keyRow) refuse(written string) error {
	key, value, _ := strings.Cut(strings.TrimSpace(written), "=")
	e := &ValueError{Written: strings.TrimSpace(written), Key: strings.TrimSpace(key), Value: strings.TrimSpace(value), Doc: k.doc, Takes: k.takes}
	if k.words != nil {
		e.Words = k.words()
		e.Takes = "one of " + strings.Join(e.Words, ", ")
	}
	return e
}

// ValueError is a key with a value that it does not take, or with none.
type ValueError struct {
	Written, Key, Value string
	Doc                 string   // what the key changes
	Takes               string   // what it takes, in words
	Words               []string // what it takes, where that is a few words
}

func (e *ValueError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s: no value: write %s=VALUE, %s (%s)", e.Written, e.Key, e.Takes, e.Doc)
	}
	return fmt.Sprintf("%s: want %s (%s)", e.Written, e.Takes, e.Doc)
}
func (e *ValueError) Is(target error) bool { return target == ErrChange }

// String is the changes as Parse reads them.
func (w Changes) String() string {
	var parts []string
	for _, c := range w.changes {
		parts = append(parts, c.key+"="+c.value)
	}
	return strings.Join(parts, ",")
}

// Apply returns the fabric and what is asked of it as they would be, and in
// plain words what had to be assumed. Nothing that was given is changed.
// Error: ErrChange, a change that the fabric has no place for.
func (w Changes) Apply(f predict.Fabric, m fabric.Measure) (predict.Fabric, fabric.Measure, []string, error) {
	v := &variant{hosts: make(map[string]netstate.Host, len(f.Hosts)), paths: slices.Clone(f.Paths), measure: m}
	for name, h := range f.Hosts {
		v.hosts[name] = h.Clone()
	}
	for _, k := range keys() {
		for _, c := range w.changes {
			if c.key != k.name {
				continue
			}
			if err := c.set(v); err != nil {
				return predict.Fabric{}, m, nil, fmt.Errorf("%s=%s: %w", c.key, c.value, err)
			}
		}
	}
	return predict.Fabric{Hosts: v.hosts, Paths: v.paths, Clouds: f.Clouds}, v.measure, v.notes, nil
}

func counting(most int, set func(*variant, int) error) func(string) (func(*variant) error, error) {
	return func(s string) (func(*variant) error, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > most {
			return nil, ErrChange
		}
		return func(v *variant) error { return set(v, n) }, nil
	}
}

func rated(set func(*variant, unit.BitRate) error) func(string) (func(*variant) error, error) {
	return func(s string) (func(*variant) error, error) {
		r, err := unit.ParseBitRate(s)
		return func(v *variant) error { return set(v, r) }, err
	}
}

func sized(set func(*variant, unit.Bytes) error) func(string) (func(*variant) error, error) {
	return func(s string) (func(*variant) error, error) {
		b, err := unit.ParseBytes(s)
		if err == nil && b <= 0 {
			err = ErrChange
		}
		return func(v *variant) error { return set(v, b) }, err
	}
}

// readMTU reads an MTU: 68 is IPv4's least (RFC 791 section 3.2) and
// Ethernet's in Linux (ETH_MIN_MTU).
func readMTU(s string) (func(*variant) error, error) {
	if n, err := strconv.Atoi(s); err != nil || n < 68 {
		return nil, ErrChange
	}
	return counting(65535, (*variant).mtu)(s)
}

func readRTT(s string) (func(*variant) error, error) {
	d, err := unit.ParseDuration(s)
	if err == nil && (d <= 0 || d > time.Hour) {
		err = ErrChange
	}
	return func(v *variant) error { return v.eachPath(func(p *fabric.Path) { p.RTT = d }) }, err
}

func readLoss(s string) (func(*variant) error, error) {
	loss, err := strconv.ParseFloat(s, 64)
	if err == nil && !(loss >= 0 && loss < 1) {
		err = ErrChange
	}
	return func(v *variant) error { return v.eachPath(func(p *fabric.Path) { p.Loss = loss }) }, err
}

func readSwitchHash(s string) (func(*variant) error, error) {
	var policy netstate.HashPolicy
	if err := policy.UnmarshalText([]byte(s)); err != nil && !slices.Contains(topology.Words(), s) {
		return nil, err
	}
	// Another hash is not the one that was learned.
	return func(v *variant) error { return v.eachPath(func(p *fabric.Path) { p.SwitchHash, p.Learned = s, nil }) }, nil
}

func readPorts(s string) (func(*variant) error, error) {
	if s != predict.PortsChosen && s != predict.PortsKernel {
		return nil, ErrChange
	}
	return func(v *variant) error { v.measure.Ports = s; return nil }, nil
}

func readProtocol(s string) (func(*variant) error, error) {
	if !framing.Known(s) {
		return nil, ErrChange
	}
	return func(v *variant) error { v.measure.Protocol = s; return nil }, nil
}

func (v *variant) eachPath(change func(*fabric.Path)) error {
	for i := range v.paths {
		change(&v.paths[i])
	}
	return nil
}

func (v *variant) rate(r unit.BitRate) error {
	return v.eachPath(func(p *fabric.Path) { p.Rate = r })
}

func (v *variant) streams(n int) error {
	v.measure.Streams = []int{n}
	return nil
}

func (v *variant) buffer(b unit.Bytes) error {
	v.measure.SocketBuffer = b
	return nil
}
