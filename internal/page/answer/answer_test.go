package answer

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/diagnose/pasted"
	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/steer"
)

// wellFormed reads a picture to its end, and returns its texts.
func wellFormed(t *testing.T, name, picture string) (texts []string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("%s: %v in %s", name, err, picture)
		}
		switch x := token.(type) {
		case xml.CharData:
			texts = append(texts, string(x))
		case xml.StartElement:
			if !strings.Contains(" svg rect line text ", " "+x.Name.Local+" ") {
				t.Errorf("%s: the picture has a %s", name, x.Name.Local)
			}
		}
	}
}

// TestExplain: the page says what the command says, for every question there is.
func TestExplain(t *testing.T) {
	files, err := filepath.Glob("../../../diagnose/pasted/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	pictures := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := paste.Parse([]piece.Text{{Bytes: text}})
		a, got := pasted.Judge(c), Explain(string(text))
		if got.Error != "" || got.Findings[0].Headline != a.Findings[0].Headline() || got.Markdown != pasted.Markdown(a) || len(got.Ask) != len(a.Missing) || got.Summary != pasted.ReadText(c) {
			t.Errorf("%s: %+v", file, got)
		}
		if !strings.HasPrefix(got.Findings[0].Headline, got.Findings[0].Summary) {
			t.Errorf("%s: %q does not begin with %q", file, got.Findings[0].Headline, got.Findings[0].Summary)
		}
		if got.Picture != "" {
			pictures++
			wellFormed(t, file, got.Picture)
		}
	}
	if pictures < len(files)/3 { // many questions are about no bond
		t.Errorf("%d of %d have a picture", pictures, len(files))
	}
	if got := Explain("hello"); got.Error != paste.Nothing || got.Hint != paste.Wanted {
		t.Errorf("of no output: %+v", got)
	}
}

const lacp = `root@nas:~# cat /proc/net/bonding/bond0
Ethernet Channel Bonding Driver: v6.1.0-32-amd64

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer2+3 (2)
MII Status: up

802.3ad info
Active Aggregator Info:
	Aggregator ID: 2
	Number of ports: 1

Slave Interface: ens2
MII Status: up
Speed: 10000 Mbps
Aggregator ID: 2

Slave Interface: ens1
MII Status: up
Speed: 10000 Mbps
Aggregator ID: 1

Slave Interface: ens3
MII Status: down
Speed: Unknown
Aggregator ID: 3
`

// TestPicture: it has what was read, and says of nothing else that it is so.
func TestPicture(t *testing.T) {
	c := paste.Parse([]piece.Text{{Bytes: []byte(lacp)}})
	picture := Picture(c)
	said := strings.Join(wellFormed(t, "lacp", picture), " ")
	for _, want := range []string{"nas", "bond0, 802.3ad, layer2+3", "ens2", "10G", "10G, idle", "down", "switch or peer: not read"} {
		if !strings.Contains(said, want) && !strings.Contains(picture, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	if strings.Contains(said, "bit/s") || strings.Contains(said, "%") {
		t.Errorf("a load that nobody read: %s", said)
	}

	h := c.Hosts[0]
	h.Set("link ens2", "seen_tx_bps", "9410000000", piece.Source{})
	c.Hosts = append(c.Hosts, &piece.Host{Name: "core1", Switch: true})
	if said := strings.Join(wellFormed(t, "load", Picture(c)), " "); !strings.Contains(said, "9.41") || !strings.Contains(said, "core1") || strings.Contains(said, "not read") {
		t.Errorf("the load and the switch that were read: %s", said)
	}
}

// TestPictureOfStrangers: a name is never markup, and many hosts and links are counted.
func TestPictureOfStrangers(t *testing.T) {
	var c piece.Case
	for range 30 {
		h := &piece.Host{Name: `<img src=x onerror="alert(1)">&` + strings.Repeat("x", 300), Facts: map[string]map[string][]piece.Value{}, Ports: map[string][]string{}}
		for i := range 40 {
			h.Set("link eth"+strings.Repeat("9", i%9)+string(rune('a'+i%26)), "speed", "10000", piece.Source{})
		}
		c.Hosts = append(c.Hosts, h)
	}
	picture := Picture(c)
	said := strings.Join(wellFormed(t, "strangers", picture), " ")
	if strings.Contains(picture, "<img") || !strings.Contains(said, "more") || len(picture) > 200_000 {
		t.Errorf("%d bytes: %.300s", len(picture), said)
	}
	if got := Picture(piece.Case{}); got != "" {
		t.Errorf("of nothing: %s", got)
	}
}

func TestSteer(t *testing.T) {
	q := SteerRequest{Src: "10.0.0.1", Dst: "10.0.0.2", Links: 3, Policy: "layer3+4", Flows: 9}
	got := Steer(q)
	if got.Error != "" || len(got.Flows) != 9 || got.Chosen == nil || !got.Chosen.Even || !steer.Evenly(got.Chosen.PerLink) || len(got.Chosen.PerLink) != 3 || strings.Count(got.Chosen.Ports, ",") != 8 {
		t.Fatalf("%+v", got)
	}
	if got.Pair.Dport != steer.DefaultDport {
		t.Errorf("port %d", got.Pair.Dport)
	}
	old := q
	old.Kernel = "3.10.0"
	if other := Steer(old); other.Bond == got.Bond || other.Flows[0].Hash == got.Flows[0].Hash {
		t.Errorf("an old kernel hashes as a new one: %+v", other)
	}
	layer2 := q
	layer2.Policy = "layer2"
	if one := Steer(layer2); one.Chosen.Even || one.Chosen.Why == "" || one.Flows[0].Link != nil {
		t.Errorf("layer2 without MAC addresses: %+v", one)
	}
	layer2.SrcMAC, layer2.DstMAC = "52:54:00:00:00:01", "52:54:00:00:00:02"
	if one := Steer(layer2); one.Flows[0].Link == nil || one.Chosen.Even {
		t.Errorf("layer2: %+v", one)
	}
	for want, bad := range map[string]func(*SteerRequest){
		"number of links": func(q *SteerRequest) { q.Links = 0 }, "number of flows": func(q *SteerRequest) { q.Flows = 1 << 30 }, "hash policy": func(q *SteerRequest) { q.Policy = "layer9" },
		"kernel": func(q *SteerRequest) { q.Kernel = "new" }, "era": func(q *SteerRequest) { q.Era = 99 }, "source address": func(q *SteerRequest) { q.Src = "" }, "destination address": func(q *SteerRequest) { q.Dst = "x" },
		"one family": func(q *SteerRequest) { q.Dst = "fd00::1" }, "MAC address of the sender": func(q *SteerRequest) { q.SrcMAC = "x" }, "MAC address of the next hop": func(q *SteerRequest) { q.DstMAC = "x" },
	} {
		one := q
		bad(&one)
		if got := Steer(one); !strings.Contains(got.Error, want) {
			t.Errorf("%s: %+v", want, got)
		}
	}
	if c := Offered(); len(c.Policies) != len(Policies()) || len(c.Eras) != len(steer.Eras()) {
		t.Errorf("choices %+v", c)
	}
}

func TestPredict(t *testing.T) {
	text, err := os.ReadFile("../assets/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := Predict(string(text))
	if got.Error != "" || len(got.Pairs) != 1 || got.Pairs[0].From != "nas" || len(got.Pairs[0].Rows) < 2 {
		t.Fatalf("%+v", got)
	}
	one, all := got.Pairs[0].Rows[0], got.Pairs[0].Rows[1]
	if one.Streams != "1" || one.Limit != "single-link" || all.Streams != "2 to 16" || all.Limit != "line-rate" || one.Expected == all.Expected || one.Why == "" {
		t.Errorf("rows %+v, %+v", one, all)
	}
	slow := Predict(strings.ReplaceAll(string(text), "    hardware: {links: {eth0: {speed: 10G}, eth1: {speed: 10G}}}\n", ""))
	if slow.Error != "" || slow.Pairs[0].Rows[0].Limit != "unknown" || slow.Pairs[0].Rows[0].Expected != "unknown" {
		t.Errorf("of links without a speed: %+v", slow)
	}
	for name, bad := range map[string]string{
		"no file": "hello", "no path": "linerate: v1\nhosts:\n  a: {network: {version: 2, ethernets: {eth0: {addresses: [10.0.0.1/24]}}}}\n  b: {network: {version: 2, ethernets: {eth0: {addresses: [10.1.0.1/24]}}}}\n",
	} {
		if got := Predict(bad); got.Error == "" || !strings.Contains(got.Error, "fabric.yaml") || name == "no path" && got.Hint == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestPredictUnknownCloud: a cloud's name that no rule knows is an error, as in a terminal.
func TestPredictUnknownCloud(t *testing.T) {
	p := Predict(`linerate: v1
hosts:
  a: {cloud: {provider: ibm-vpcc, instance: bx2-4x16}, network: {ethernets: {ens3: {addresses: [10.0.0.1/24]}}}}
  b: {network: {ethernets: {ens3: {addresses: [10.0.0.2/24]}}}}
`)
	if !strings.Contains(p.Error, `unknown cloud provider "ibm-vpcc"`) || !strings.Contains(p.Hint, "cloud.bandwidth") {
		t.Errorf("%q, %q", p.Error, p.Hint)
	}
}
