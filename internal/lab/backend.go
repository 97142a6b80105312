package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/kernel/feature"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// BackEnd is where a lab's kernel comes from.
type BackEnd string

// The back ends.
const (
	Auto  BackEnd = "auto"
	Local BackEnd = "host" // the running kernel, in network namespaces
	UML   BackEnd = "uml"  // User-Mode Linux, a kernel as a process
	QEMU  BackEnd = "qemu" // a distribution's kernel on an emulated machine
)

// ParseBackEnd reads a back end's name.
func ParseBackEnd(s string) (BackEnd, error) {
	switch b := BackEnd(s); b {
	case Auto, Local, UML, QEMU:
		return b, nil
	}
	return "", fmt.Errorf("unknown lab back end %q: want auto, host, uml or qemu", s)
}

// Choice is a back end and the reason for it.
type Choice struct {
	BackEnd BackEnd
	Why     string
	Kernel  string // directory of the unpacked kernel, for QEMU
}

// Errors of Choose and Up.
var (
	ErrNoBackEnd = errors.New("no lab back end can run here")
	ErrBusy      = errors.New("another lab is up")
)

// These carry the choice into the guest.
const (
	envWhy     = "LINERATE_LAB_WHY"
	envBackEnd = "LINERATE_LAB_BACK_END"
)

// Choose says which back end a lab runs on: the running kernel where it has
// what the lab needs, else a lab kernel. It looks, and changes nothing but a
// throw-away namespace of its own. Needs are what the lab needs of the kernel;
// none is what the program's own networks do.
func Choose(want BackEnd, needs ...feature.Name) (Choice, error) {
	if os.Getenv(guest.EnvGuest) != "" {
		return Choice{BackEnd: BackEnd(os.Getenv(envBackEnd)), Why: os.Getenv(envWhy)}, nil
	}
	if want == QEMU {
		return ChooseKernel("")
	}
	hostErr := hostCan(needs)
	umlErr := guest.Installed()
	switch {
	case want == Local && hostErr != nil:
		return Choice{}, fmt.Errorf("use back end host: %w: %w", ErrNoBackEnd, hostErr)
	case want == UML && umlErr != nil:
		return Choice{}, fmt.Errorf("use back end uml: %w", umlErr)
	case want == Local:
		return Choice{BackEnd: Local, Why: "asked for"}, nil
	case want == UML:
		return Choice{BackEnd: UML, Why: "asked for"}, nil
	case hostErr == nil:
		return Choice{BackEnd: Local, Why: "the running kernel has what it needs"}, nil
	case umlErr == nil:
		return Choice{BackEnd: UML, Why: firstLine(hostErr)}, nil
	}
	return Choice{}, fmt.Errorf("start lab: %w: on this kernel %s; %w", ErrNoBackEnd, firstLine(hostErr), umlErr)
}

// hostCan is nil when the running kernel can be a lab, else the reasons why
// not.
func hostCan(needs []feature.Name) error {
	if slices.Contains(needs, feature.NFSServer) {
		return errSharedNFS
	}
	if len(needs) == 0 {
		needs = []feature.Name{feature.NetNS, feature.Bonding, feature.Netem, feature.TBF, feature.Veth, feature.Bridge, feature.VLAN}
	}
	return feature.Need(needs...)
}

// errSharedNFS: what a server exports is in files that all of a machine's
// servers share.
var errSharedNFS = errors.New("an NFS server of a lab needs a kernel of its own")

// LacksError is a kernel without what a scenario needs.
type LacksError struct{ Missing []string }

func (e *LacksError) Error() string { return "this kernel lacks " + strings.Join(e.Missing, "; ") }

// Has is nil when the running kernel has every feature; else the error is a
// *LacksError that says in one line which it lacks, and how that is known.
func Has(needs []scenario.Feature) error {
	asked := names(needs)
	answers := feature.Probe(asked...)
	var missing []string
	for _, n := range asked {
		if a := answers[n]; a.State != feature.Yes {
			missing = append(missing, fmt.Sprintf("%s (%s)", n, a.Why))
		}
	}
	if missing == nil {
		return nil
	}
	return &LacksError{missing}
}

// names are features by the words that the kernel's probes know them by, which
// are the same.
func names(needs []scenario.Feature) []feature.Name {
	out := make([]feature.Name, len(needs))
	for i, n := range needs {
		out[i] = feature.Name(n)
	}
	return out
}

// ChooseFor is Choose for a scenario.
func ChooseFor(want BackEnd, needs []scenario.Feature) (Choice, error) {
	return Choose(want, names(needs)...)
}

// Modules are the kernel modules that bring features, besides those that every
// lab kernel loads.
func Modules(needs []scenario.Feature) (modules []string) {
	for _, n := range needs {
		switch n {
		case scenario.NFSServer:
			modules = append(modules, "nfsd")
		case scenario.NFSClient:
			modules = append(modules, "nfsv4", "nfsv3", "nfs")
		}
	}
	return modules
}

// firstLine is the first of several joined reasons: one is enough to decide.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// Enter runs this program again with the arguments in a lab kernel, when the
// choice asks for one; entered is false when the caller is already where the
// lab can be built.
func Enter(ctx context.Context, c Choice, cmd guest.Command) (exit guest.Exit, entered bool, err error) {
	if c.BackEnd != UML && c.BackEnd != QEMU || os.Getenv(guest.EnvGuest) != "" {
		return guest.Exit{}, false, nil
	}
	exit, err = guest.Run(ctx, c.inKernel(cmd))
	return exit, true, err
}

// inKernel adds what every lab wants of its kernel.
func (c Choice) inKernel(cmd guest.Command) guest.Command {
	if c.BackEnd == QEMU {
		cmd.Kernel = c.Kernel
		cmd.Files = append(cmd.Files, toolbox()...)
	}
	cmd.Modules = append(cmd.Modules, "bonding", "veth", "bridge", "8021q", "sch_tbf", "sch_htb", "sch_netem", "sch_fq", "sch_fq_codel", "sch_ingress", "cls_matchall", "act_mirred", "act_gact", "ifb",
		"dummy", "inet_diag", "tcp_diag", "udp_diag", "mptcp_diag", "tcp_bbr")
	cmd.Env = append(cmd.Env, envWhy+"="+c.Why, envBackEnd+"="+string(c.BackEnd), "GOMAXPROCS=8")
	return cmd
}
