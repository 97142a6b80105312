package discovering

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/host/observe"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
)

// stand is a host under proof, near, and what its cables lead to, far.
type stand struct {
	t         *testing.T
	name      string
	near, far netns.Namespace
	// refused are the commands that this kernel refused, with its words.
	refused []string
}

// built makes a host by its commands: those of ip are run in one go, and what the
// kernel lacks is left out and kept in mind.
func built(t *testing.T, name string, links int, sysctls map[string]string, commands []string) *stand {
	t.Helper()
	s := &stand{t: t, name: "linerate-test-" + name}
	for _, end := range []struct {
		name string
		into *netns.Namespace
	}{{s.name, &s.near}, {s.name + "-far", &s.far}} {
		ns, err := netns.Create(end.name)
		floor.Must(t, err)
		*end.into = ns
		t.Cleanup(func() { _ = netns.Delete(end.name) })
	}
	// Addresses are used at once: nobody here has another's.
	floor.Must(t, s.near.Do(func() error {
		for key, value := range sysctls {
			if err := os.WriteFile("/proc/sys/"+strings.ReplaceAll(key, ".", "/"), []byte(value), 0); err != nil {
				s.refused = append(s.refused, fmt.Sprintf("sysctl %s=%s: %v", key, value, err))
			}
		}
		for _, which := range []string{"all", "default", "lo"} {
			_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/accept_dad", []byte("0"), 0)
			_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/router_solicitations", []byte("0"), 0)
		}
		return nil
	}))
	cables := []string{"link set lo up"}
	far := []string{"link set lo up"}
	for i := range links {
		cables = append(cables, fmt.Sprintf("link add eth%d type veth peer name p%d netns %s", i, i, s.far.Name), fmt.Sprintf("link set eth%d up", i))
		far = append(far, fmt.Sprintf("link set p%d up", i))
	}
	s.batch(s.near.Name, "", cables)
	s.batch(s.far.Name, "", far)
	var four, six, bridging []string
	for _, c := range commands {
		if rest, ok := strings.CutPrefix(c, "bridge "); ok {
			bridging = append(bridging, rest)
		} else if rest, ok := strings.CutPrefix(c, "-6 "); ok {
			six = append(six, rest)
		} else {
			four = append(four, c)
		}
	}
	s.batch(s.near.Name, "", four)
	s.batch(s.near.Name, "-6", six)
	for _, c := range bridging {
		if out, err := exec.Command("bridge", append([]string{"-n", s.near.Name}, strings.Fields(c)...)...).CombinedOutput(); err != nil {
			s.refused = append(s.refused, fmt.Sprintf("bridge %s: %s", c, out))
		}
	}
	return s
}

var failedLine = regexp.MustCompile(`(?m)^Command failed [^:]*:(\d+)`)

// batch runs commands of ip in a namespace, all of them; of one family, or as
// ip takes them.
func (s *stand) batch(namespace string, family string, commands []string) {
	s.t.Helper()
	cmd := exec.Command("ip", slices.DeleteFunc([]string{"-n", namespace, family, "-force", "-batch", "-"}, func(w string) bool { return w == "" })...)
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	_ = cmd.Run() // what failed is on standard error
	from := 0
	for _, at := range failedLine.FindAllStringSubmatchIndex(errs.String(), -1) {
		n, _ := strconv.Atoi(errs.String()[at[2]:at[3]])
		why := strings.Join(strings.Fields(errs.String()[from:at[0]]), " ")
		from = at[1]
		if n >= 1 && n <= len(commands) {
			s.refused = append(s.refused, "ip "+commands[n-1]+": "+why)
		}
	}
	// A word that ip does not know ends it, without the line of a failed command (invarg).
	// So does a device that this kernel did not make.
	switch last := strings.TrimSpace(errs.String()[from:]); {
	case strings.Contains(last, "Device does not exist"):
		s.refused = append(s.refused, "ip: "+last)
	case strings.Contains(last, "is wrong"):
		s.t.Errorf("ip ended before its commands did: %s", last)
	}
}

// observe is the host as it is now.
func (s *stand) observe() netstate.Host {
	s.t.Helper()
	var h netstate.Host
	floor.Must(s.t, s.near.Do(func() (err error) {
		h, err = observe.Observe(context.Background(), observe.Config{})
		return err
	}))
	h.Name = s.name
	return h
}

// makes is which kinds of link the running kernel makes.
func makes(t *testing.T) func(kind string) bool {
	t.Helper()
	s := built(t, "able", 1, nil, nil)
	able := map[string]bool{}
	for kind, more := range map[string]string{"bond": "", "dummy": "", "bridge": " vlan_filtering 1", "vrf": " table 9", "vlan": " id 9", "macvlan": ""} {
		able[kind] = s.can("ip link add link p0 name try" + kind[:3] + " type " + kind + more)
	}
	return func(kind string) bool { return able[kind] }
}

// can reports that this kernel does what a command asks, on the cable's far end.
func (s *stand) can(command string) bool {
	words := strings.Fields(command)
	return exec.Command(words[0], append([]string{"-n", s.far.Name}, words[1:]...)...).Run() == nil
}
