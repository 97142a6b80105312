package cgroup

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// Mounts as Linux wrote them: a machine with version 1 (and an unused version
// 2), one with version 2 only, a container that sees its own part.
const (
	mountsV1 = `23 1 259:1 / / rw,relatime - ext4 /dev/root rw
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
`
	mountsV2 = `25 30 0:23 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw
28 25 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
`
	mountsPart = `700 695 0:29 /docker/4f\0402a /sys/fs/cgroup/cpu ro,nosuid,nodev,noexec,relatime master:11 - cgroup cgroup rw,cpu
`
)

func TestParseMounts(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want hierarchy
	}{
		"version 1":      {mountsV1, hierarchy{v1, "/sys/fs/cgroup/cpu,cpuacct", "/"}},
		"version 2":      {mountsV2, hierarchy{v2, "/sys/fs/cgroup", "/"}},
		"part":           {mountsPart, hierarchy{v1, "/sys/fs/cgroup/cpu", "/docker/4f 2a"}},
		"hybrid, no cpu": {strings.ReplaceAll(mountsV1, "rw,cpu,cpuacct", "rw,pids"), hierarchy{v2, "/sys/fs/cgroup/unified", "/"}},
		"none":           {"23 1 259:1 / / rw,relatime - ext4 /dev/root rw\n", hierarchy{}},
		"empty":          {"", hierarchy{}},
	} {
		got, two, err := parseMounts([]byte(c.text), "cpu")
		if got.version == none {
			got = two
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
	if _, _, err := parseMounts([]byte("1 2 / - cgroup\n"), "cpu"); !errors.Is(err, errMalformed) {
		t.Errorf("a line cut short: %v", err)
	}
}

func TestParseGroup(t *testing.T) {
	const text = "12:cpuset:/\n4:cpu,cpuacct:/user.slice/a:b\n0::/user.slice/session-1.scope\n"
	for v, want := range map[version]string{v1: "/user.slice/a:b", v2: "/user.slice/session-1.scope"} {
		if got, err := parseGroup([]byte(text), v, "cpu"); err != nil || got != want {
			t.Errorf("version %d: %q, %v; want %q", v, got, err, want)
		}
	}
	if got, err := parseGroup([]byte("0::/\n"), v1, "cpu"); err != nil || got != "" {
		t.Errorf("no cpu controller: %q, %v", got, err)
	}
	if _, err := parseGroup([]byte("nonsense\n"), v1, "cpu"); !errors.Is(err, errMalformed) {
		t.Errorf("nonsense: %v", err)
	}
}

func TestDirectories(t *testing.T) {
	for name, c := range map[string]struct {
		root, group string
		want        []string
	}{
		"root":           {"/", "/", []string{"/c"}},
		"deep":           {"/", "/a/b", []string{"/c/a/b", "/c/a", "/c"}},
		"part":           {"/docker/1", "/docker/1/x", []string{"/c/x", "/c"}},
		"the part":       {"/docker/1", "/docker/1", []string{"/c"}},
		"another part":   {"/docker/1", "/docker/12", []string{"/c"}},
		"above the root": {"/", "/../x", []string{"/c"}},
	} {
		if got := (hierarchy{v2, "/c", c.root}).directories(c.group); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestParseQuota(t *testing.T) {
	for _, c := range []struct {
		v             version
		quota, period string
		want          float64
		bad           bool
	}{
		{v1, "50000\n", "100000\n", 0.5, false},
		{v1, "-1\n", "100000\n", 0, false},
		{v1, "400000", "100000", 4, false},
		{v1, "50000\n", "0\n", 0, true},
		{v1, "", "100000", 0, true},
		{v2, "max 100000\n", "", 0, false},
		{v2, "150000 100000\n", "", 1.5, false},
		{v2, "max\n", "", 0, true},
		{v2, "10 x\n", "", 0, true},
	} {
		got, err := parseQuota2([]byte(c.quota))
		if c.v == v1 {
			got, err = parseQuota1([]byte(c.quota), []byte(c.period))
		}
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("version %d, %q of %q: %v, %v; want %v", c.v, c.quota, c.period, got, err, c.want)
		}
	}
}

// TestParseThrottled: cpu.stat of Linux 6.18 version 1, and of version 2.
func TestParseThrottled(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want time.Duration
	}{
		"version 1":      {"nr_periods 21\nnr_throttled 20\nthrottled_time 1498245032\nnr_bursts 0\nburst_time 0\n", 1498245032},
		"version 2":      {"usage_usec 5127351\nuser_usec 5113190\nsystem_usec 14160\nnice_usec 0\ncore_sched.force_idle_usec 0\nnr_periods 46\nnr_throttled 46\nthrottled_usec 4096123\nnr_bursts 0\nburst_usec 0\n", 4096123 * time.Microsecond},
		"controller off": {"usage_usec 5127351\nuser_usec 5113190\nsystem_usec 14160\n", 0},
	} {
		if got, err := parseThrottled([]byte(c.text)); err != nil || got != c.want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
	if got, err := parseThrottled([]byte("throttled_usec 18446744073709551615\n")); err != nil || got < 0 {
		t.Errorf("beyond reason: %v, %v", got, err)
	}
	if _, err := parseThrottled([]byte("throttled_time -3\n")); !errors.Is(err, errMalformed) {
		t.Errorf("negative: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{mountsV1, mountsV2, mountsPart, "4:cpu:/a\n0::/b\n", "50000", "max 100000", "throttled_usec 7\n"} {
		f.Add([]byte(s), "/a/b", "/a")
	}
	f.Fuzz(func(t *testing.T, text []byte, group, root string) {
		h, _, _ := parseMounts(text, "cpu")
		h.root = root
		h.point = "/c"
		for _, d := range h.directories(group) {
			if d != "/c" && !strings.HasPrefix(d, "/c/") {
				t.Fatalf("group %q of %q leads to %q", group, root, d)
			}
		}
		_, _ = parseGroup(text, v1, "cpu")
		_, _ = parseGroup(text, v2, "cpu")
		if q, err := parseQuota2(text); err == nil && q < 0 {
			t.Fatalf("quota %v of %q", q, text)
		}
		if d, err := parseThrottled(text); err == nil && d < 0 {
			t.Fatalf("throttled %v of %q", d, text)
		}
	})
}
