package overssh

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/unit"
)

// host is a namespace with an sshd of its own that is as good as a machine: it
// has its own processes, users, host key, host name, temporary directories and
// boot, and all of it goes with it.
type host struct {
	name string
	addr netip.Addr
	pid  int    // of its first process
	root string // its files, as this machine sees them
	log  string
	cmd  *exec.Cmd
	life io.Closer
}

// hosting is how a host differs from the others; the zero value does not.
type hosting struct {
	tmp       string       // options of /tmp's mount; "" is exec
	varTmp    string       // of /var/tmp and /run
	installed string       // a program to put on its path as linerate
	machine   string       // architecture that uname tells, such as i686; "" is the machine's own
	force     string       // what sshd runs whatever is asked for; "" is what is asked for
	listen    string       // address of sshd; "" is the host's own
	sudoers   string       // over those that are
	disk      bool         // its own /etc and /var/log too: what is installed there goes with it
	systemd   bool         // its first process is systemd, with sshd beside it; it takes a disk
	cable     unit.BitRate // 0 is the rack's
}

const (
	// ann may become root without a password; bob must give one.
	ann, bob = "ann", "bob"
	sudoers  = "root ALL=(ALL:ALL) ALL\nann ALL=(root) NOPASSWD: ALL\nbob ALL=(root) ALL\n"
	passwd   = "ann:x:4001:4001::/home/ann:/bin/sh\nbob:x:4002:4002::/home/bob:/bin/bash\n"
)

// first makes a host of the namespaces that it is started in.
const first = `set -e
name=$1 files=$2 tmp=$3 vartmp=$4 machine=$5 disk=$6 systemd=$7
hostname "$name"
mount -t sysfs sysfs /sys
if [ -n "$disk" ]; then
  mount -t tmpfs -o mode=755 tmpfs /mnt
  mkdir /mnt/etc /mnt/work
  mount -t overlay -o lowerdir=/etc,upperdir=/mnt/etc,workdir=/mnt/work overlay /etc
  mount -t tmpfs -o mode=755 tmpfs /var/log
fi
for f in passwd group shadow sudoers; do mount --bind "$files/$f" /etc/$f; done
mount -t tmpfs -o mode=755 tmpfs /etc/ssh
cp "$files"/host_key "$files"/authorized "$files"/sshd_config /etc/ssh/
chmod 600 /etc/ssh/host_key
mount --bind "$files/boot_id" /proc/sys/kernel/random/boot_id
mount -t tmpfs -o mode=755,"$vartmp" tmpfs /run
mkdir -m 755 /run/sshd
mount -t tmpfs -o mode=1777,"$vartmp" tmpfs /var/tmp
mount -t tmpfs tmpfs /var/lib
mount -t tmpfs -o mode=755 tmpfs /home
mount -t tmpfs -o mode=755 tmpfs /usr/local/bin
mount -t tmpfs -o mode=700 tmpfs /root
for u in ann:4001 bob:4002; do mkdir -m 700 /home/${u%:*}; chown ${u#*:}:${u#*:} /home/${u%:*}; done
if [ -e "$files/installed" ]; then cp "$files/installed" /usr/local/bin/linerate; fi
mount -t tmpfs -o mode=1777,"$tmp" tmpfs /tmp
if [ -z "$systemd" ]; then exec ${machine:+setarch "$machine"} /usr/sbin/sshd -D -e; fi
/usr/sbin/sshd -D -e &
# A control group of its own for all that systemd makes, and no sysctl of the
# kernel's to set: both are the machine's.
mkdir /mnt/groups
mount -t cgroup2 cgroup2 /mnt/groups
mkdir "/mnt/groups/$systemd"
echo 1 >"/mnt/groups/$systemd/cgroup.procs"
umount /mnt/groups
mount --bind /proc/sys /proc/sys
mount -o remount,ro,bind /proc/sys
mount -o remount,ro,bind /sys
# None of the machine's services, which would set it up: targets alone.
mkdir /mnt/units
for t in basic sysinit shutdown umount network network-online multi-user; do cp "/lib/systemd/system/$t.target" /mnt/units/; done
mount --bind /mnt/units /lib/systemd/system
rm -rf /etc/systemd/system/*
printf '[Unit]\nAllowIsolate=yes\n' >/mnt/units/lab.target
mount --make-rshared / # as whoever starts a systemd has it; the machine has no part in it
exec unshare --cgroup sh -c 'mount -t cgroup2 cgroup2 /sys/fs/cgroup
exec env -i container=lab PATH="$PATH" /lib/systemd/systemd --system --unit=lab.target --log-target=console --show-status=0'
`

// ungroup removes the control groups of a host whose processes are gone.
const ungroup = `mount -t cgroup2 cgroup2 /mnt
for i in $(seq 100); do
  if [ ! -d "/mnt/$1" ] || find "/mnt/$1" -depth -type d -exec rmdir {} + 2>/dev/null; then exit 0; fi
  sleep 0.1
done
exit 1`

// newHost starts a host in a namespace and waits until its sshd listens.
func newHost(t testing.TB, space floor.Space, name string, addr netip.Addr, as hosting) *host {
	t.Helper()
	files := filepath.Join(dir, "hosts", name+strconv.Itoa(time.Now().Nanosecond()))
	floor.Must(t, os.MkdirAll(files, 0o755))
	h := &host{name: name, addr: addr, log: filepath.Join(files, "log")}
	for file, text := range map[string]string{
		"passwd": own(t, "/etc/passwd") + passwd, "group": own(t, "/etc/group") + "ann:x:4001:\nbob:x:4002:\n",
		"shadow":      own(t, "/etc/shadow") + "ann:*:19000:0:99999:7:::\nbob:*:19000:0:99999:7:::\n",
		"sudoers":     sudoers + as.sudoers,
		"boot_id":     fmt.Sprintf("00000000-0000-4000-8000-%012x\n", addr.As4()[3]),
		"sshd_config": sshdConfig(orElse(as.listen, addr.String()), as.force),
	} {
		floor.Must(t, os.WriteFile(filepath.Join(files, file), []byte(text), 0o644))
	}
	floor.Must(t, os.Chmod(filepath.Join(files, "sudoers"), 0o440))
	floor.Must(t, os.Chmod(filepath.Join(files, "shadow"), 0o640))
	keygen(t, filepath.Join(files, "host_key"))
	key, err := os.ReadFile(clientKey(t) + ".pub")
	floor.Must(t, err)
	floor.Must(t, os.WriteFile(filepath.Join(files, "authorized"), key, 0o644))
	if as.installed != "" {
		floor.Must(t, os.Link(as.installed, filepath.Join(files, "installed")))
	}
	group := ""
	if as.systemd {
		group = space.NS.Name
		t.Cleanup(func() {
			if out, err := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", ungroup, "ungroup", group).CombinedOutput(); err != nil {
				t.Errorf("%s leaves control groups: %v: %s", name, err, out)
			}
		})
	}
	log, err := os.Create(h.log)
	floor.Must(t, err)
	defer log.Close()
	h.cmd = exec.Command("sh", "-c", `"$@" & p=$!; read gone; kill -9 $p`, "host", "nsenter", "--net=/run/netns/"+space.NS.Name, "unshare", "--mount", "--propagation", "private", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc",
		"sh", "-c", first, name, name, files, orElse(as.tmp, "exec"), orElse(as.varTmp, "exec"), as.machine, map[bool]string{true: "disk"}[as.disk], group)
	h.cmd.Stdout, h.cmd.Stderr = log, log
	h.life, err = h.cmd.StdinPipe() // a test that dies takes its hosts along
	floor.Must(t, err)
	floor.Must(t, h.cmd.Start())
	t.Cleanup(h.stop)
	h.await(t)
	return h
}

// sshdConfig is root by key alone, as a careful site has it, and users by key.
func sshdConfig(listen, force string) string {
	if force != "" {
		force = "ForceCommand " + force
	}
	return strings.Join([]string{
		"ListenAddress " + listen, "Port 22", "HostKey /etc/ssh/host_key", "AuthorizedKeysFile /etc/ssh/authorized", "PidFile none",
		"UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password", "StrictModes no", "PrintMotd no",
		"MaxStartups 100", "Subsystem sftp internal-sftp", force, "",
	}, "\n")
}

// await waits until sshd listens.
func (h *host) await(t testing.TB) {
	t.Helper()
	for range 500 {
		if b, _ := os.ReadFile(h.log); bytes.Contains(b, []byte("Server listening")) {
			h.pid = h.firstProcess()
			h.root = fmt.Sprintf("/proc/%d/root", h.pid)
			return
		}
		floor.Pause()
	}
	b, _ := os.ReadFile(h.log)
	t.Fatalf("%s: sshd does not listen: %s", h.name, b)
}

// firstProcess is the child of unshare, which is the child of a shell.
func (h *host) firstProcess() int {
	return childOf(childOf(h.cmd.Process.Pid))
}

// childOf is the only child of a process, 0 where it has none.
func childOf(pid int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", pid))
	child, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return child
}

// stop ends the host as a power cut does: all its processes at once.
func (h *host) stop() {
	if h.pid > 0 {
		_ = syscall.Kill(h.pid, syscall.SIGKILL) // unshare waits for it and ends
		h.pid = 0
	}
	h.life.Close()
	_ = h.cmd.Wait()
}

// processes are the command lines that run on the host, beside sshd's own.
func (h *host) processes(t testing.TB) []string {
	t.Helper()
	var out []string
	entries, err := os.ReadDir(filepath.Join(h.root, "proc"))
	floor.Must(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(h.root, "proc", e.Name(), "cmdline"))
		line := strings.TrimSpace(strings.ReplaceAll(string(b), "\x00", " "))
		if _, number := strconv.Atoi(e.Name()); number == nil && err == nil && line != "" && !strings.Contains(line, "sshd") {
			out = append(out, line)
		}
	}
	return out
}

// left are the files that linerate may leave behind on the host.
func (h *host) left(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"tmp/*", "var/tmp/*", "run/linerate/*", "run/user/*", "home/*/*", "home/*/.[a-z]*", "root/*", "root/.[a-z]*", "var/lib/*"} {
		found, err := filepath.Glob(filepath.Join(h.root, pattern))
		floor.Must(t, err)
		for _, f := range found {
			out = append(out, strings.TrimPrefix(f, h.root))
		}
	}
	return out
}

// clean fails the test unless nothing is left on the host, a moment later.
func (h *host) clean(t testing.TB) {
	t.Helper()
	var processes, files []string
	for range 150 {
		if processes, files = h.processes(t), h.left(t); len(processes)+len(files) == 0 {
			return
		}
		floor.Pause()
	}
	t.Errorf("%s is left with processes %q and files %q", h.name, processes, files)
}

// own is one of the machine's files.
func own(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	floor.Must(t, err)
	return string(b)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func keygen(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// clientKey is the key of whoever runs linerate here.
func clientKey(t testing.TB) string {
	t.Helper()
	path := filepath.Join(dir, "key")
	keygen(t, path)
	return path
}
