package fabric

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/netstate"
)

// TestCloudKeys reads every key of a cloud.
func TestCloudKeys(t *testing.T) {
	f := parse(t, "testdata/good/clouds.yaml")
	want := []*netstate.Cloud{
		{Provider: "ibm-vpc", Instance: "bx2-48x192", VCPUs: 48, NetworkShare: 0.9, Region: "eu-de", Zone: "eu-de-1", Bandwidth: 50e9, InterfaceRate: 25e9, FlowRate: 12.5e9},
		{Provider: "aws", Instance: "c6in.32xlarge", Placement: "cluster", ENAExpress: true},
		{Provider: "gcp", Instance: "c3-standard-88", Tier1: true},
	}
	var got []*netstate.Cloud
	for _, h := range f.Hosts {
		got = append(got, h.Cloud)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("clouds (-want +got):\n%s", diff)
	}
}

// TestMergeKeepsCloud: a host that was looked at is still where the file says.
func TestMergeKeepsCloud(t *testing.T) {
	f := parse(t, "testdata/good/clouds.yaml")
	declared := state(t, f, "b")
	observed := declared.Clone()
	observed.Cloud = nil
	merged, differences := Merge(declared, f.Hosts[1], observed)
	if diff := cmp.Diff(declared.Cloud, merged.Cloud); diff != "" || len(differences) > 0 {
		t.Errorf("merged cloud (-declared +merged):\n%s%v", diff, differences)
	}
}

func TestCloudKeysRefused(t *testing.T) {
	for _, c := range []struct{ cloud, want string }{
		{"{provider: aws, network_share: 1.5}", "ratio"},
		{"{provider: aws, ena_express: maybe}", "neither true nor false"},
		{"{provider: aws, bandwidth: 50}", "no unit"},
		{"{provider: aws, placment: cluster}", "placement"},
	} {
		_, err := Parse("f.yaml", []byte("linerate: v1\nhosts: {a: {cloud: "+c.cloud+"}}\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.cloud, err, c.want)
		}
	}
}
