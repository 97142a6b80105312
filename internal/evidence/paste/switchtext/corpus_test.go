package switchtext

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"go.yaml.in/yaml/v3"
)

const corpora = "../../../../../shared/corpora"

// Real outputs with the fields that others' readers find in them.
func TestSwitchCorpusChannels(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpora, "ntc-templates/*/*/*.raw"))
	if len(files) == 0 {
		t.Skip("real outputs are missing: ../shared/corpora/ntc-templates")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(strings.TrimSuffix(file, ".raw") + ".yml")
			if err != nil {
				t.Skip("no fields beside it")
			}
			var want struct {
				Parsed []map[string]any `yaml:"parsed_sample"`
			}
			if err := yaml.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "Chassis id:") && !strings.Contains(string(text), "Local ") {
				t.Skip("the output names no port of its own")
			}
			c := all.Read([]piece.Text{{Bytes: text}})
			h := switchOf(&c)
			for _, row := range want.Parsed {
				if h == nil {
					t.Fatal("nothing was read")
				}
				checkRow(t, h, row)
			}
		})
	}
}

func switchOf(c *piece.Case) *piece.Host {
	for _, h := range c.Hosts {
		if h.Switch {
			return h
		}
	}
	return nil
}

func texts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		if v != "" && v != "--" {
			out = append(out, v)
		}
	case []any:
		for _, one := range v {
			out = append(out, texts(one)...)
		}
	}
	return out
}

// checkRow compares one row of expected fields: a channel with its ports, or a
// neighbour.
func checkRow(t *testing.T, h *piece.Host, row map[string]any) {
	t.Helper()
	if bundle := texts(row["bundle_name"]); len(bundle) == 1 {
		channel := (&sink{&piece.Sink{Host: h}}).portName(bundle[0])
		members := texts(row["member_interface"])
		got, _ := h.Get("channel "+channel, "members")
		if got.Text != strings.Join(members, " ") {
			t.Errorf("%s has %q, want %q", channel, got.Text, members)
		}
		for i, flag := range texts(row["member_interface_status"]) {
			if got, _ := h.Get("port "+(&sink{&piece.Sink{Host: h}}).portName(members[i]), "flag"); got.Text != flag {
				t.Errorf("%s has flag %q, want %q", members[i], got.Text, flag)
			}
		}
	}
	local, name := texts(row["local_interface"]), texts(row["neighbor_name"])
	if len(local) != 1 || len(name) != 1 || name[0] == "-" || name[0] == "None" || strings.HasPrefix(name[0], "[") {
		return
	}
	found := false
	for _, v := range h.Facts["port "+(&sink{&piece.Sink{Host: h}}).portName(local[0])]["neighbour"] {
		found = found || strings.HasPrefix(v.Text, name[0]) // a name that goes on in the next line
	}
	if !found {
		t.Errorf("%s has neighbours %v, want %q", local[0], h.Facts["port "+(&sink{&piece.Sink{Host: h}}).portName(local[0])]["neighbour"], name[0])
	}
}

func TestSwitchCorpusGolden(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpora, "genieparser/*/tests/*/cli/equal/*_output.txt"))
	if len(files) == 0 {
		t.Skip("real outputs are missing: ../shared/corpora/genieparser")
	}
	for _, file := range files {
		if goldenSkip.MatchString(file) {
			continue
		}
		name, _ := filepath.Rel(corpora, file)
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(file, "_output.txt") + "_expected.py")
			if err != nil {
				t.Skip("no fields beside it")
			}
			c := all.Read([]piece.Text{{Bytes: text}})
			h := switchOf(&c)
			if h == nil {
				t.Fatal("nothing was read")
			}
			for _, m := range goldenName.FindAllStringSubmatch(string(want), -1) {
				if subject := (&sink{&piece.Sink{Host: h}}).portSubject(m[1]); h.Facts[subject] == nil {
					t.Errorf("%s was not read", subject)
				}
			}
		})
	}
}

var (
	goldenName = regexp.MustCompile(`['"]((?:[A-Z][A-Za-z]*(?:Ethernet|GigE|Gi)|Port-channel|Bundle-Ether)[\d/]+)['"]: \{`)
	goldenSkip = regexp.MustCompile(`Platform|LacpCounters|Protocol/|SysId|SystemIdentifier|ShowBundle/.*output_5|ShowInterfaceEtherchannel/.*output[12]_|/empty/`)
)

// all are this package's readers, in the order of the table.
var all = piece.Table{
	ChannelSummary,
	ChannelTraffic,
	LACPTable,
	ChannelDetail,
	LoadBalance,
	PortCounters,
	PortRates,
	PortStatus,
	PortDescription,
	AoscxPort,
	PortDetail,
	JunosLACP,
	JunosDetail,
	JunosSet,
	JunosBraces,
	ProcurveTrunks,
	AoscxLACP,
	ComwareLACP,
	HuaweiTrunk,
	OtherChannels,
	SwitchHash,
	RouterBond,
	LinuxSwitch,
	SmallSwitch,
	LLDPTable,
	LLDPDetail,
	MACTable,
	SwitchConfig,
}
