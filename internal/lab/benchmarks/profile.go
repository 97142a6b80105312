package benchmarks

import (
	"fmt"
	"math"

	"github.com/linerate/linerate/internal/advise/cloud"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// JudgedProfile is a cloud's worked example with what the rules say.
type JudgedProfile struct {
	Table string `json:"table"`
	Profile
	PredictedNetwork   unit.BitRate `json:"predicted_network_bps"`
	PredictedInterface unit.BitRate `json:"predicted_per_interface_bps"`
	// Exact: both are as published, to the bit.
	Exact bool   `json:"exact"`
	Why   string `json:"why"`
}

// JudgeProfiles works every profile out by the program's own rules.
func JudgeProfiles(tables []Table) []JudgedProfile {
	all := []JudgedProfile{}
	for _, t := range tables {
		for _, p := range t.Profiles {
			all = append(all, p.judge(t.Name))
		}
	}
	return all
}

func (p Profile) judge(table string) JudgedProfile {
	j := JudgedProfile{Table: table, Profile: p}
	caps, err := cloud.Table{}.Caps(cloud.Query{
		Cloud: netstate.Cloud{Provider: p.Provider, VCPUs: p.VCPUs}, Interfaces: p.Interfaces,
	})
	if err != nil {
		j.Why = err.Error()
		return j
	}
	j.PredictedNetwork, j.PredictedInterface, j.Why = caps.Egress.Rate, caps.Interface.Rate, caps.Interface.Why
	same := func(a, b unit.BitRate) bool { return math.Abs(float64(a-b)) < 1 }
	j.Exact = same(j.PredictedNetwork, p.Network) && same(j.PredictedInterface, p.PerInterface)
	return j
}

// ProfileSummaries says of each table's profiles how many are exact.
func ProfileSummaries(all []JudgedProfile) []string {
	var lines []string
	for i := 0; i < len(all); {
		exact, end := 0, i
		for ; end < len(all) && all[end].Table == all[i].Table; end++ {
			if all[end].Exact {
				exact++
			}
		}
		lines = append(lines, fmt.Sprintf("%s: %d of %d profiles exact", all[i].Table, exact, end-i))
		i = end
	}
	return lines
}
