// Package openvswitch reads the bonds of this host's Open vSwitch, of which the kernel
// knows nothing, out of its database over the protocol of RFC 7047: columns of
// ovs-vswitchd.conf.db(5).
//
// Don't change anything here, and don't run its programs: the socket answers. What
// member a bucket has is not in the database; ovs-appctl bond/show lists that.
package openvswitch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/netstate"
)

const (
	// patience is how long one answer may take, mostAnswer how many bytes it may have.
	patience   = 2 * time.Second
	mostAnswer = 16 << 20
	standard   = "/run/openvswitch"
)

// Member is an interface of a bond, with what Open vSwitch believes of the kernel's.
type Member struct {
	Name    string
	IfIndex int    // 0 unknown
	MAC     string // "" unknown
}

// Bond is one that Open vSwitch has.
type Bond struct {
	Name, Bridge string
	Members      []Member // by name: the database keeps no order
	State        netstate.OVSBond
}

// Dir is where Open vSwitch has its sockets: OVS_RUNDIR, as its own programs take it,
// else /run/openvswitch.
func Dir() string {
	if dir := os.Getenv("OVS_RUNDIR"); dir != "" {
		return dir
	}
	return standard
}

// Bonds reads all bonds of the switch whose sockets are in a directory, by name. A host
// without Open vSwitch has none, without an error. The socket is root's.
func Bonds(ctx context.Context, dir string) ([]Bond, error) {
	tables, err := query(ctx, filepath.Join(dir, "db.sock"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Open vSwitch's database: %w", err)
	}
	return tables.bonds(), nil
}

// request is one of RFC 7047, section 4.
type request struct {
	Method string `json:"method"`
	Params []any  `json:"params"`
	ID     any    `json:"id"`
}

type selection struct {
	Op      string   `json:"op"`
	Table   string   `json:"table"`
	Where   []any    `json:"where"`
	Columns []string `json:"columns"`
}

// ask sends a request to a socket and reads its answer into result; the server's own
// questions (echo) go unanswered, as one answer is all that is waited for.
func ask(ctx context.Context, socket string, r request, result any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	r.ID = 0
	if err := json.NewEncoder(conn).Encode(r); err != nil {
		return err
	}
	answers := json.NewDecoder(io.LimitReader(conn, mostAnswer))
	for {
		var answer struct {
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := answers.Decode(&answer); err != nil {
			return errors.Join(ctx.Err(), err)
		}
		if answer.Method != "" {
			continue
		}
		if len(answer.Error) > 0 && string(answer.Error) != "null" {
			return fmt.Errorf("it answers %.200s", answer.Error)
		}
		return json.Unmarshal(answer.Result, result)
	}
}

// tables are the rows of the three tables, by their identifiers.
type tables struct {
	bridges, ports, interfaces []map[string]json.RawMessage
}

func query(ctx context.Context, socket string) (tables, error) {
	all := []any{"Open_vSwitch"}
	for _, s := range []selection{
		{Table: "Bridge", Columns: []string{"name", "ports"}},
		{Table: "Port", Columns: []string{"_uuid", "name", "interfaces", "bond_mode", "lacp", "other_config", "bond_active_slave"}},
		{Table: "Interface", Columns: []string{"_uuid", "name", "ifindex", "mac_in_use", "link_state", "lacp_current"}},
	} {
		s.Op, s.Where = "select", []any{}
		all = append(all, s)
	}
	var answers []struct {
		Rows  []map[string]json.RawMessage `json:"rows"`
		Error string                       `json:"error"`
	}
	if err := ask(ctx, socket, request{Method: "transact", Params: all}, &answers); err != nil {
		return tables{}, err
	}
	if len(answers) < 3 {
		return tables{}, errors.New("it answers less than was asked")
	}
	for _, a := range answers {
		if a.Error != "" {
			return tables{}, fmt.Errorf("it answers %.200q", a.Error)
		}
	}
	return tables{answers[0].Rows, answers[1].Rows, answers[2].Rows}, nil
}

func (t tables) bonds() []Bond {
	byID := map[string]member{}
	for _, row := range t.interfaces {
		index, _ := strconv.Atoi(one(row["ifindex"]))
		byID[one(row["_uuid"])] = member{
			Member{one(row["name"]), index, one(row["mac_in_use"])}, one(row["link_state"]), one(row["lacp_current"]),
		}
	}
	bridgeOf := map[string]string{}
	for _, row := range t.bridges {
		for _, id := range set(row["ports"]) {
			bridgeOf[id] = one(row["name"])
		}
	}
	var all []Bond
	for _, row := range t.ports {
		members := set(row["interfaces"])
		if len(members) < 2 {
			continue
		}
		b := Bond{Name: one(row["name"]), Bridge: bridgeOf[one(row["_uuid"])]}
		var found []member
		for _, id := range members {
			if m, ok := byID[id]; ok {
				found = append(found, m)
			}
		}
		slices.SortFunc(found, func(a, c member) int { return strings.Compare(a.Name, c.Name) })
		for _, m := range found {
			b.Members, b.State.Ports = append(b.Members, m.Member), append(b.State.Ports, m.Name)
		}
		if mode := netstate.OVSMode(one(row["bond_mode"])); slices.Contains(netstate.OVSModes(), mode) {
			b.State.Mode = mode
		}
		if lacp := one(row["lacp"]); slices.Contains(netstate.OVSLACPs(), lacp) {
			b.State.LACP = lacp
		}
		config := mapping(row["other_config"])
		basis, _ := strconv.ParseUint(config["bond-hash-basis"], 10, 32)
		b.State.Basis = uint32(basis)
		b.State = b.State.Runs()
		b.does(found, one(row["bond_active_slave"]), config["lacp-fallback-ab"] == "true")
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b Bond) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// member is an interface of a bond with what the database says that it does: whether
// the link is "up" or "down", whether LACP's partner agrees ("true", "false"); "" is not
// said.
type member struct {
	Member
	link, agreed string
}

// does adds what a bond does now: active is the address of its active member, fallback
// that it is active-backup where no LACP partner agrees (lacp_status and bond_run,
// lib/lacp.c and ofproto/bond.c of 3.1).
func (b *Bond) does(all []member, active string, fallback bool) {
	agreed, said := false, len(all) > 0
	for _, m := range all {
		agreed, said = agreed || m.agreed == "true", said && m.agreed != ""
	}
	lacp := b.State.LACP != netstate.OVSLACPOff && said
	switch {
	case lacp && !agreed && fallback:
		b.State.Mode = netstate.OVSActiveBackup
	case lacp && !agreed:
		b.State.NoPartner = true
	}
	for _, m := range all {
		if m.link == "down" || lacp && agreed && m.agreed == "false" {
			b.State.Disabled = append(b.State.Disabled, m.Name)
		}
		if active != "" && strings.EqualFold(m.MAC, active) {
			b.State.Active = m.Name
		}
	}
}

// set are the values of a column, as RFC 7047, section 5.1, has them: an atom, which is
// a text, a number or ["uuid", ID], or ["set", [ATOM, ...]].
func set(raw json.RawMessage) []string {
	var pair []json.RawMessage
	if json.Unmarshal(raw, &pair) != nil || len(pair) != 2 {
		return atoms(raw)
	}
	var word string
	if json.Unmarshal(pair[0], &word) != nil || word != "set" {
		return atoms(raw)
	}
	var items []json.RawMessage
	_ = json.Unmarshal(pair[1], &items)
	return atoms(items...)
}

func atoms(all ...json.RawMessage) []string {
	var texts []string
	for _, raw := range all {
		var text string
		var number json.Number
		var truth bool
		var id []string
		switch {
		case json.Unmarshal(raw, &text) == nil:
			texts = append(texts, text)
		case json.Unmarshal(raw, &truth) == nil:
			texts = append(texts, strconv.FormatBool(truth))
		case json.Unmarshal(raw, &number) == nil:
			texts = append(texts, number.String())
		case json.Unmarshal(raw, &id) == nil && len(id) == 2:
			texts = append(texts, id[1])
		}
	}
	return texts
}

// one is the only value of a column; "" where it has none or several.
func one(raw json.RawMessage) string {
	if all := set(raw); len(all) == 1 {
		return all[0]
	}
	return ""
}

// mapping is ["map", [[KEY, VALUE], ...]].
func mapping(raw json.RawMessage) map[string]string {
	var pair []json.RawMessage
	var pairs [][]string
	if json.Unmarshal(raw, &pair) != nil || len(pair) != 2 || json.Unmarshal(pair[1], &pairs) != nil {
		return nil
	}
	all := map[string]string{}
	for _, p := range pairs {
		if len(p) == 2 {
			all[p[0]] = p[1]
		}
	}
	return all
}
