package probing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer/affine"
	"github.com/linerate/linerate/steer/testhash"
	"github.com/linerate/linerate/unit"
)

const (
	// trunkRate is a link's: a connection that shows its link sends 64 KiB, in a fiftieth of a second.
	trunkRate  = 24 * unit.Mbps
	trunkQueue = 60 * time.Millisecond
	// ofStream is more payload than a connection's opening has, and less than any stream of a trial.
	ofStream = 1 << 15
)

// spreads are the hashes that read ports: with the others no choice of ports helps.
func spreads(random *rand.Rand, links int) []testhash.Hash {
	var out []testhash.Hash
	for _, h := range testhash.Affine() {
		of, seen := h.Make(random), make(map[uint32]bool)
		for port := range uint16(4096) {
			seen[of(tupleOfPort(40000+port))%uint32(links)] = true
		}
		if len(seen) == links {
			out = append(out, h)
		}
	}
	return out
}

func tupleOfPort(port uint16) flow.Tuple {
	return flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2"), Sport: port, Dport: 5201}
}

// TestLearnedPorts: two hosts with bonds of 2, 4 or 8 links at a switch that spreads towards
// each by a hash of its own: a CRC or an XOR with drawn seed, offset and numbering. `steer
// probe --learn` learns both, and as many streams as links, both ways at once, with the
// ports that follow, put one stream on every link of both hosts. Runs take the hashes and
// the numbers of links by turns: thirty of them try every hash over each.
func TestLearnedPorts(t *testing.T) {
	n, seed := max(proof(t), 1), floor.Draw(t)
	part := int(max(floor.Number(t, "PROVE_RUN", 1), 1)) - 1
	even := 0
	for run := range n {
		number := part*n + run
		random := rand.New(rand.NewPCG(seed, uint64(number)))
		t.Run(fmt.Sprintf("run %d", number+1), func(t *testing.T) {
			links, turn := []int{2, 4, 8}[number%3], number/3
			all := spreads(random, links)
			if learnedRun(t, random, links, [2]testhash.Hash{all[2*turn%len(all)], all[(2*turn+1)%len(all)]}) {
				even++
			}
		})
	}
	t.Logf("links carry one stream each in %d of %d runs", even, n)
}

// learnedRun builds a network whose switch has those hashes towards the two hosts, learns and
// measures; it reports whether all links were even.
func learnedRun(t *testing.T, random *rand.Rand, links int, drawn [2]testhash.Hash) bool {
	hosts := [2]floor.Space{floor.NewSpace(t, "learned-near"), floor.NewSpace(t, "learned-far")}
	sw := floor.NewSpace(t, "learned-switch")
	hash := netstate.Layer34
	var trunks [2]trunk
	subnet := byte(random.IntN(250))
	file := &strings.Builder{}
	file.WriteString("linerate: v1\nhosts:\n")
	for i, h := range hosts {
		var own []string
		fmt.Fprintf(file, "  %s:\n    reach: \"netns:%s\"\n    hardware:\n      links:\n", []string{nearHost, farHost}[i], h.NS.Name)
		for l := range links {
			link, far := fmt.Sprintf("eth%d", l), fmt.Sprintf("p%d-%d", i, l)
			floor.Must(t, h.Builder.Veth(link, sw.Builder, far))
			floor.Must(t, sw.Builder.Up(far))
			own, trunks[i].ports = append(own, link), append(trunks[i].ports, far)
			fmt.Fprintf(file, "        %s: {speed: %s, framing: l2}\n", link, word(trunkRate))
		}
		floor.Must(t, h.Builder.Up("lo"))
		floor.Must(t, h.Builder.Bond("bond0", rtnl.BondSpec{Mode: netstate.BalanceXOR, HashPolicy: &hash, Miimon: 50 * time.Millisecond}, own))
		floor.Must(t, h.Builder.Address("bond0", netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 60, subnet, byte(1 + 100*i + random.IntN(100))}), 24)))
		for l := range links {
			floor.Must(t, h.Builder.Shape(own[l], trunkRate, floor.Bucket(trunkRate), trunkQueue))
			floor.Must(t, sw.Builder.Shape(trunks[i].ports[l], trunkRate, floor.Bucket(trunkRate), trunkQueue))
		}
		of, order := drawn[i].Make(random), random.Perm(links)
		trunks[i].link = func(t flow.Tuple) int { return order[of(t)%uint32(links)] }
	}
	fmt.Fprintf(file, "paths:\n  - {between: [%s, %s]}\n", nearHost, farHost)
	counts := hashSwitch(t, sw, trunks)
	for _, h := range hosts {
		floor.Await(t, h, "bond0", links, 10*time.Second)
	}
	dir := t.TempDir()
	plain, learned, kept := filepath.Join(dir, "fabric.yaml"), filepath.Join(dir, "learned.yaml"), filepath.Join(dir, "record.json")
	floor.Must(t, os.WriteFile(plain, []byte(file.String()), 0o600))
	begun := time.Now()
	var report struct {
		Learned []flow.LearnedHash `json:"learned"`
		Refused []json.RawMessage  `json:"refused"`
		Probes  int                `json:"probes_count"`
	}
	floor.Must(t, json.Unmarshal(printed(t, "steer", "probe", nearHost, farHost, "--learn", "--size", "1Mi", "--fabric", plain, "-o", learned, "--json"), &report))
	most := 0
	for _, l := range report.Learned {
		most = max(most, l.Observed)
		if l.Observed > 24 || l.Checked < affine.Checks {
			t.Errorf("to %s: %d observed, %d checked", l.To, l.Observed, l.Checked)
		}
	}
	if len(report.Learned) == 0 || len(report.Refused) > 0 {
		t.Fatalf("towards %s, %s: learned %d, refused %s", drawn[0].Name, drawn[1].Name, len(report.Learned), report.Refused)
	}
	took := time.Since(begun)
	counts.since(0)
	printed(t, "measure", learned, "--streams", fmt.Sprint(links), "--directions", "both", "--ports", "chosen", "--duration", "1s", "--no-loaded-latency", "-o", kept)
	text, err := os.ReadFile(kept)
	floor.Must(t, err)
	r, err := record.Decode(text)
	floor.Must(t, err)
	if len(r.Trials) != 1 {
		t.Fatalf("%d trials: %+v", len(r.Trials), r.Failures)
	}
	// Streams are counted at the switch, each by its own ports: how busy the machine is has no
	// part in it. A stream that moved to another link counts twice.
	streams := make(map[string]int)
	for _, w := range counts.since(ofStream) {
		streams[w.in+" in"]++
		streams[w.out+" out"]++
	}
	even := true
	for _, tr := range trunks {
		for _, p := range tr.ports {
			even = even && streams[p+" in"] == 1 && streams[p+" out"] == 1
		}
	}
	least, highest := linkLoads(r.Trials[0])
	t.Logf("%d links, to %s by %s, to %s by %s: %d connections in %.0f s, at most %d to learn from; links carry one stream each, out and in of both hosts: %v; their rates %.0f to %.0f %% of the mean, %v together",
		links, nearHost, drawn[0].Name, farHost, drawn[1].Name, report.Probes, took.Seconds(), most, even, 100*least, 100*highest, r.Trials[0].Goodput)
	if !even || len(streams) != 4*links {
		t.Errorf("not even: streams by port %v", streams)
		return false
	}
	return !t.Failed()
}

// linkLoads are the lowest and the highest rate of a link, of the mean of those of its host
// and direction. They depend on how busy the machine is.
func linkLoads(trial record.Trial) (least, most float64) {
	loads := make(map[string][]float64)
	for _, l := range trial.Links {
		if strings.HasPrefix(l.Link, "eth") {
			loads[l.Host+" out"] = append(loads[l.Host+" out"], float64(l.TxPayload))
			loads[l.Host+" in"] = append(loads[l.Host+" in"], float64(l.RxPayload))
		}
	}
	least = 1
	for _, on := range loads {
		sum := 0.0
		for _, x := range on {
			sum += x
		}
		for _, x := range on {
			least, most = min(least, x/sum*float64(len(on))), max(most, x/sum*float64(len(on)))
		}
	}
	return least, most
}

func word(r unit.BitRate) string {
	text, _ := r.MarshalText()
	return string(text)
}

// printed is what the program prints.
func printed(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	app := console.System("test")
	app.Stdout, app.Stderr = &out, &errs
	if status := root.Run(app, args); status != 0 {
		t.Fatalf("linerate %v: status %d\n%s%s", args, status, out.String(), errs.String())
	}
	return out.Bytes()
}
