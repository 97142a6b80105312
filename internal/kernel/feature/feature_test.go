package feature

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func TestStateRoundTrip(t *testing.T) {
	for i := range stateWords {
		text, err := State(i).MarshalText()
		var back State
		if err != nil || back.UnmarshalText(text) != nil || back != State(i) {
			t.Errorf("%d became %q became %d", i, text, back)
		}
	}
	var s State
	if err := s.UnmarshalText([]byte("maybe")); err == nil {
		t.Error("maybe was read")
	}
}

func TestModuleState(t *testing.T) {
	tree := func(modules, builtin, dep string) fstest.MapFS {
		fs := fstest.MapFS{"proc/modules": {Data: []byte(modules)}}
		if builtin != "-" {
			fs["lib/modules/6.1/modules.builtin"] = &fstest.MapFile{Data: []byte(builtin)}
		}
		if dep != "-" {
			fs["lib/modules/6.1/modules.dep"] = &fstest.MapFile{Data: []byte(dep)}
		}
		return fs
	}
	const other = "kernel/net/8021q/8021q.ko: kernel/net/llc/llc.ko\n"
	for _, tc := range []struct {
		name, module          string
		modules, builtin, dep string
		want                  module
	}{
		{"loaded", "bonding", "tls 1 0 - Live 0x0\nbonding 204800 0 - Live 0x0\n", "-", "-", moduleLoaded},
		{"built in", "sch_netem", "", "kernel/net/sched/sch_netem.ko\n", "", moduleLoaded},
		{"dash for underscore", "sch_tbf", "", "kernel/net/sched/sch-tbf.ko\n", "", moduleLoaded},
		{"on disk, packed", "bonding", "", "", other + "kernel/drivers/net/bonding/bonding.ko.xz: kernel/net/tls/tls.ko\n", moduleOnDisk},
		{"needed by another", "llc", "", "", other, moduleAbsent},
		{"part of a name", "bond", "bonding 1 0\n", "", "kernel/bonding.ko:\n", moduleAbsent},
		{"no files", "bonding", "", "-", "-", moduleNoFiles},
	} {
		if got := moduleState(tree(tc.modules, tc.builtin, tc.dep), "6.1", tc.module); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestMissing(t *testing.T) {
	no := &Missing{Name: MPTCP, Answer: Answer{State: No, Why: "protocol not supported", Min: "5.6"}}
	if !errors.Is(no, errors.ErrUnsupported) || !strings.Contains(no.Error(), "5.6") {
		t.Errorf("%v", no)
	}
	unknown := &Missing{Name: Bonding, Answer: Answer{Why: "not permitted"}}
	if errors.Is(unknown, errors.ErrUnsupported) || !strings.Contains(unknown.Error(), "could not tell") {
		t.Errorf("%v", unknown)
	}
	if err := Need(); err != nil {
		t.Errorf("nothing needed: %v", err)
	}
	if err := Need("time-travel"); err == nil {
		t.Error("an unknown feature is there")
	}
}
