package crash

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/plan"
)

// killGuards kills every guard of the stand's journal.
func (c *cutter) killGuards() {
	armed, _ := filepath.Glob(filepath.Join(c.dir, "*.armed"))
	for _, path := range armed {
		b, err := os.ReadFile(path)
		var o apply.Owner
		if err == nil && json.Unmarshal(b, &o) == nil && o.Alive() {
			_ = syscall.Kill(o.PID, syscall.SIGKILL)
			waitTrue(c.t, "the guard's death", func() bool { return !o.Alive() })
		}
	}
}

// agent kills `linerate agent` as it applies, and cuts its connection as an ssh
// session that ends does.
func (c *cutter) agent() {
	usual := c.dir
	defer func() { c.dir = usual }()
	c.dir = c.t.TempDir() // its entries are of no named namespace
	files := c.p.Files
	c.p.Files = nil // a plan's files belong to the machine
	defer func() { c.p.Files = files }()
	for _, k := range c.some(1, len(c.p.Steps)) {
		var cmd *exec.Cmd
		must(c.t, c.host.Do(func() error {
			cmd = exec.Command(self(c.t), "agent", "--stdio", "--journal", c.dir)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			return nil
		}))
		in, err := cmd.StdinPipe()
		must(c.t, err)
		must(c.t, c.host.Do(cmd.Start))
		params, err := json.Marshal(agentapi.ApplyRequest{Plan: c.p, Deadline: 2*c.took + 5*time.Second})
		must(c.t, err)
		must(c.t, json.NewEncoder(in).Encode(agentapi.Request{ID: 1, Method: agentapi.Apply.Name, Params: params}))
		waitTrue(c.t, "the agent's steps", func() bool { return c.stepsDone() >= k })
		if c.r.IntN(2) == 0 {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // all of its session
		} else {
			_ = in.Close()
		}
		_ = cmd.Wait()
		c.whole("agent", c.ended("the guard"))
	}
}

func (c *cutter) stepsDone() int {
	entries, _, _ := apply.OpenJournal(c.dir).List()
	if len(entries) == 0 {
		return 0
	}
	done := 0
	for _, s := range entries[len(entries)-1].Steps {
		if s.Progress == agentapi.StepDone {
			done++
		}
	}
	return done
}

// management: the change cuts its own controller off. Nobody can confirm it
// then, and at its deadline the controller reaches the host again.
func (c *cutter) management() {
	var l net.Listener
	must(c.t, c.host.Do(func() (err error) {
		l, err = net.Listen("tcp", mgmt+":0")
		return err
	}))
	defer l.Close()
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	reaches := func() bool {
		var err error
		must(c.t, c.ctl.Do(func() error {
			var conn net.Conn
			if conn, err = net.DialTimeout("tcp", net.JoinHostPort(mgmt, port), 300*time.Millisecond); err == nil {
				conn.Close()
			}
			return nil
		}))
		return err == nil
	}
	waitTrue(c.t, "the controller to reach the host", reaches)
	j := c.job("apply")
	j.Plan = plan.Plan{Host: "h", Steps: []plan.Step{{Kind: plan.LinkState, Link: "m0", Old: plan.Up, New: plan.Down}}}
	j.Deadline = c.took + 4*time.Second // the guard's start is in it
	if out, _ := j.run(c.t); out.Err != "" {
		c.t.Errorf("cut off: %+v", out)
	}
	if reaches() {
		c.t.Error("the controller is not cut off: not tried")
	}
	c.whole("controller cut off", c.ended("the guard"))
	waitTrue(c.t, "the controller to reach the host again", reaches)
}
