package discovering

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// dumps are what is compared before a change and after it was put back. Those
// of ip are run in one go for each family, for they are many.
var dumps = []struct {
	program []string
	batch   string
}{
	{[]string{"ip", "-j", "-d"}, "link\naddr\nrule\nroute show table all\nnexthop\nmptcp limits\nmptcp endpoint\n"},
	{[]string{"ip", "-6", "-j", "-d"}, "rule\nroute show table all\n"},
	{[]string{"tc", "-j"}, "qdisc\n"},
	{[]string{"bridge", "-j"}, "vlan\n"},
}

// moves are keys of those documents that the kernel moves by itself, whatever is
// done: lifetimes that run, timers of bridges, and what LACP says of the moment.
var moves = []string{
	"valid_life_time", "preferred_life_time", "expires", "hello_timer", "tcn_timer", "topology_change_timer", "gc_timer",
	"ad_aggregator_id", // the driver counts up at each port that joins (bond_3ad_bind_slave)
	"ad_actor_oper_port_state", "ad_actor_oper_port_state_str", "ad_partner_oper_port_state", "ad_partner_oper_port_state_str",
	"message_age_timer", "forward_delay_timer", "hold_timer", "topology_change", "topology_change_detected",
	"link_failure_count", "used", "age",
}

// dump is everything of the host, by what says it. The sysctls are those that
// `sysctl -a` has of net.
func (s *stand) dump() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	for _, d := range dumps {
		cmd := exec.Command(d.program[0], append(d.program[1:len(d.program):len(d.program)], "-n", s.near.Name, "-force", "-batch", "-")...)
		cmd.Stdin = strings.NewReader(d.batch)
		out, _ := cmd.Output() // a kernel without MPTCP says so on standard error
		documents := json.NewDecoder(bytes.NewReader(out))
		for i := 0; ; i++ {
			var document any
			if documents.Decode(&document) != nil {
				break
			}
			all[fmt.Sprintf("%s %d", strings.Join(d.program, " "), i)] = settled(document)
		}
	}
	floor.Must(s.t, s.near.Do(func() error {
		return filepath.WalkDir("/proc/sys/net", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return nil // another namespace's, or gone
			}
			key := strings.TrimPrefix(path, "/proc/sys/")
			if counted(key) {
				return nil
			}
			value, err := os.ReadFile(path)
			if err == nil {
				all["sysctl "+strings.ReplaceAll(key, "/", ".")] = string(value)
			}
			return nil
		})
	}))
	return all
}

// counted reports sysctls that count, or are the whole machine's and move for
// others' sake.
func counted(key string) bool {
	return strings.Contains(key, "nf_conntrack_count") || strings.HasPrefix(key, "net/core/") && !strings.Contains(key, "somaxconn")
}

// settled is a document one entry a line, without what moves by itself.
func settled(document any) string {
	entries, ok := document.([]any)
	if !ok {
		entries = []any{document}
	}
	var lines []string
	for _, e := range entries {
		if without(e); noDiscipline(e) {
			continue
		}
		line, err := json.Marshal(e)
		if err != nil {
			line = fmt.Append(nil, e)
		}
		lines = append(lines, string(line))
	}
	// An IPv6 route that went with its link comes back behind those to the same
	// place over other links; only IPv6's have a preference. What the kernel makes
	// of an address in the local table stands in the order of the addresses, and
	// one that came back is the last of them, as the plan says.
	ordered := func(line string) bool {
		return !strings.Contains(line, `"pref":`) && !strings.Contains(line, `"table":"local"`)
	}
	byPlace := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !ordered(line) })
	others := slices.DeleteFunc(lines, ordered)
	slices.Sort(others)
	return strings.Join(append(byPlace, others...), "\n")
}

// quiet waits until the kernel has caught up with what was built: a link's state
// is set some time after its carrier (linkwatch_event), and an IPv6 address can
// be used some time after it was added (addrconf_dad_work).
func (s *stand) quiet() {
	s.t.Helper()
	for range 50 {
		out, err := exec.Command("ip", "-n", s.near.Name, "-j", "addr", "show", "up").Output()
		floor.Must(s.t, err)
		var links []struct {
			Flags     []string `json:"flags"`
			State     string   `json:"operstate"`
			Kind      string   `json:"link_type"`
			Addresses []struct {
				Tentative bool `json:"tentative"`
			} `json:"addr_info"`
		}
		floor.Must(s.t, json.Unmarshal(out, &links))
		waits := false
		for _, l := range links {
			carrier := slices.Contains(l.Flags, "LOWER_UP")
			waits = waits || l.Kind == "ether" && l.State == "UNKNOWN" && carrier && !slices.Contains(l.Flags, "NOARP")
			waits = waits || carrier == slices.Contains(l.Flags, "NO-CARRIER")
			for _, a := range l.Addresses {
				waits = waits || a.Tentative && carrier
			}
		}
		if !waits {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// noDiscipline reports an entry without anything, or of the queueing discipline that is
// none: a link that was up and is down has it until another is put there and taken away,
// and again once it is up (dev_activate).
func noDiscipline(entry any) bool {
	m, ok := entry.(map[string]any)
	return ok && (len(m) == 0 || m["kind"] == "noqueue" && m["handle"] == "0:")
}

func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		flags, _ := v["flags"].([]any)
		if flags != nil && !slices.Contains(flags, any("UP")) && (v["qdisc"] == "noop" || v["qdisc"] == "noqueue") {
			delete(v, "qdisc") // see noDiscipline
		}
		if slices.Contains(flags, any("SLAVE")) {
			// When balance-alb loses the port in use, the next one listens to every
			// address for ten seconds (rlb_teach_disabled_mac_on_primary).
			delete(v, "promiscuity")
		}
		if _, is := v["forward_delay_timer"]; is {
			delete(v, "state") // of a bridge's port: it listens and learns for 30 s
		}
		// An address that was taken off comes back behind the others.
		if all, ok := v["addr_info"].([]any); ok {
			slices.SortFunc(all, func(a, b any) int { return strings.Compare(fmt.Sprint(without(a)), fmt.Sprint(without(b))) })
		}
		for key, value := range v {
			if n, is := value.(float64); slices.Contains(moves, key) && !(is && n == 1<<32-1) {
				delete(v, key)
				continue
			}
			v[key] = without(value)
		}
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	}
	return v
}

// differences are the lines of one that the other has not, each way.
func differences(before, after map[string]string) []string {
	var lines []string
	for key, was := range before {
		is, there := after[key]
		if was == is && there {
			continue
		}
		had, has := strings.Split(was, "\n"), strings.Split(is, "\n")
		same := true
		for _, line := range had {
			if !slices.Contains(has, line) {
				lines, same = append(lines, fmt.Sprintf("%s: was %s", key, line)), false
			}
		}
		for _, line := range has {
			if !slices.Contains(had, line) {
				lines, same = append(lines, fmt.Sprintf("%s: is  %s", key, line)), false
			}
		}
		if same {
			lines = append(lines, fmt.Sprintf("%s: in another order:\n    was %s\n    is  %s", key, strings.Join(had, "\n        "), strings.Join(has, "\n        ")))
		}
	}
	for key := range after {
		if _, there := before[key]; !there {
			lines = append(lines, key+" came")
		}
	}
	slices.Sort(lines)
	return lines
}
