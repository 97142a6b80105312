package changing

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// sshd lets a controller on the switch reach alpha over alpha's bond and by
// nothing else: OpenSSH's own server there, whose sessions run the agent, and
// its own client here.
func sshd(t *testing.T) {
	t.Helper()
	floor.Must(t, os.MkdirAll("/run/sshd", 0o755))
	ns, err := netns.Create(lab.Namespace("controller"))
	floor.Must(t, err)
	t.Cleanup(func() { _ = netns.Delete(lab.Namespace("controller")) })
	b, err := rtnl.OpenBuilder(ns)
	floor.Must(t, err)
	defer b.Close()
	sw, err := rtnl.OpenBuilder(netns.Named(lab.Namespace("switch")))
	floor.Must(t, err)
	defer sw.Close()
	floor.Must(t, b.Veth("eth0", sw, "ctl0"))
	ip(t, "switch", "link set ctl0 mtu 9000 master bridge0 up")
	ip(t, "controller", "addr add 10.0.0.100/24 dev eth0")
	ip(t, "controller", "link set eth0 up")

	dir := t.TempDir()
	floor.Must(t, os.Chmod(dir, 0o700))
	for _, key := range []string{"host", "user"} {
		command(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key))
	}
	public, err := os.ReadFile(filepath.Join(dir, "user.pub"))
	floor.Must(t, err)
	self, err := os.Executable()
	floor.Must(t, err)
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		floor.Must(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	write("authorized", string(public), 0o600)
	agent := write("agent", "#!/bin/sh\nexec "+self+" agent --stdio --journal "+dir+"/journal\n", 0o755)
	server := write("sshd_config", fmt.Sprintf("ListenAddress 0.0.0.0\nHostKey %[1]s/host\nAuthorizedKeysFile %[1]s/authorized\nStrictModes no\nUsePAM no\n"+
		"PermitRootLogin yes\nPidFile %[1]s/pid\nForceCommand %[2]s\n", dir, agent), 0o600)
	client := write("ssh_config", fmt.Sprintf("Host *\nIdentityFile %[1]s/user\nStrictHostKeyChecking no\nUserKnownHostsFile %[1]s/known\nLogLevel INFO\n", dir), 0o600)
	write("ssh", fmt.Sprintf("#!/bin/sh\nexec ip netns exec %s /usr/bin/ssh -F %s \"$@\"\n", lab.Namespace("controller"), client), 0o755)
	t.Setenv("PATH", dir+":/usr/sbin:/sbin:"+os.Getenv("PATH"))
	cmd := exec.Command("ip", "netns", "exec", lab.Namespace("alpha"), "/usr/sbin/sshd", "-D", "-e", "-f", server)
	var said bytes.Buffer
	cmd.Stderr = &said
	floor.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("sshd: %s", said.String())
		}
	})
	await(t, "sshd", 20*time.Second, func() bool {
		return exec.Command("ip", "netns", "exec", lab.Namespace("controller"), "ssh-keyscan", "-T", "2", "10.0.0.1").Run() == nil
	})
}

// overSSH is alpha alone, reached over its own bond.
func overSSH(address, parameters string) string {
	text := "linerate: v1\nhosts:\n" + hostFile("alpha", bondFile(address, parameters, ""), "")
	return strings.Replace(text, "netns:"+lab.Namespace("alpha"), "ssh://root@10.0.0.1", 1)
}

// cutOff: a controller that reaches a host only over the bond that it
// changes. What cuts it off is taken back by the host itself; what does not is
// kept over a new connection.
func cutOff(t *testing.T) {
	g := newGround(t, topology(t), overSSH("10.0.0.1/24", "mode: 802.3ad, transmit-hash-policy: layer3+4, mii-monitor-interval: 100"))
	sshd(t)
	first := g.host("alpha")
	if o := g.apply(); !o.Confirmed {
		t.Errorf("a change of the policy was not kept: %+v", o)
	}
	before := g.host("alpha")
	if was, _ := first.Link("bond0"); was.Bond.HashPolicy == mustLink(t, before, "bond0").Bond.HashPolicy {
		t.Error("the policy did not change")
	}
	// An address of another network: the controller is cut off at once.
	g.write(overSSH("10.9.9.9/24", "mode: 802.3ad, transmit-hash-policy: layer3+4, mii-monitor-interval: 100"))
	const deadline = 45 * time.Second
	begun := time.Now()
	_, errs := g.fails("apply", g.file, "--yes", "--exact", "--deadline", deadline.String())
	by := regexp.MustCompile(`alpha will roll back by itself by (\d\d:\d\d:\d\d)`).FindStringSubmatch(errs)
	if by == nil {
		t.Fatalf("nobody says when alpha rolls itself back:\n%s", errs)
	}
	t.Logf("ended after %v", time.Since(begun).Round(time.Second))
	if pings("controller", "10.0.0.1") {
		t.Error("alpha can be reached: not tried")
	}
	await(t, "alpha to put itself back", deadline+10*time.Second, func() bool { return pings("controller", "10.0.0.1") })
	if late := time.Since(begun); late > deadline+10*time.Second {
		t.Errorf("it took %v and not until %s", late, by[1])
	}
	g.unchanged(map[string]hostState{"alpha": before})
}
