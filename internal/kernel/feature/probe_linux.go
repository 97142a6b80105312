package feature

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/internal/kernel/sys"
)

const (
	linkHead  = 16 // struct ifinfomsg
	tcHead    = 20 // struct tcmsg
	loopback  = 1  // lo's index in every namespace
	rootQueue = 0xffffffff
	infoKind  = 1 // IFLA_INFO_KIND
	tcaKind   = 1 // TCA_KIND

	protocolMPTCP = 262 // IPPROTO_MPTCP
)

func probe(names []Name) map[Name]Answer {
	answers := make(map[Name]Answer, len(names))
	// On the caller's thread: net.mptcp.enabled is its namespace's own.
	mptcp := probeMPTCP()
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The thread is never unlocked: it dies with the namespace.
		runtime.LockOSThread()
		entered := sys.NewNetNS()
		for _, name := range names {
			answers[name] = answer(name, entered, mptcp)
		}
	}()
	<-done
	return answers
}

func answer(name Name, entered error, mptcp Answer) Answer {
	for _, f := range features {
		if f.name != name {
			continue
		}
		var a Answer
		switch f.form {
		case formNamespace:
			a = namespaceAnswer(entered)
		case formSocket:
			a = mptcp
		case formFiles:
			a = filesAnswer(os.DirFS("/"), release(), f.kind, f.module)
		case formModule:
			a = moduleAnswer(os.DirFS("/"), release(), f.module)
		case formLink:
			a = kindAnswer(f.module, entered, func() error { return tryLink(f.kind) }, syscall.EOPNOTSUPP, "adding a link of kind "+f.kind)
		case formQdisc:
			a = kindAnswer(f.module, entered, func() error { return tryQdisc(f.kind) }, syscall.ENOENT, "adding a queueing discipline "+f.kind)
		}
		a.Min = f.min
		return a
	}
	return Answer{Why: "no such feature is known"}
}

func namespaceAnswer(err error) Answer {
	switch {
	case err == nil:
		return Answer{State: Yes, Why: "made a network namespace"}
	case errors.Is(err, syscall.EPERM):
		return Answer{State: No, Why: "making a network namespace is not permitted (needs CAP_SYS_ADMIN)"}
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS):
		return Answer{State: No, Why: fmt.Sprintf("the kernel has no network namespaces: %v", err)}
	}
	return Answer{Why: err.Error()}
}

// kindAnswer asks the module files, then the kernel. A module that would be
// loaded by asking is not asked for: loading bonding makes a bond0 in the
// first namespace.
func kindAnswer(module string, entered error, try func() error, absent syscall.Errno, what string) Answer {
	state := moduleState(os.DirFS("/"), release(), module)
	if state == moduleOnDisk {
		return Answer{State: Yes, Why: "module " + module + " is installed and not loaded"}
	}
	if entered != nil {
		switch state {
		case moduleLoaded:
			return Answer{State: Yes, Why: "module " + module + " is loaded or built in"}
		case moduleAbsent:
			return Answer{State: No, Why: "module " + module + " is neither built in nor installed"}
		}
		return Answer{Why: fmt.Sprintf("no module files tell, and trying it needs a namespace: %v", entered)}
	}
	err := try()
	switch {
	case err == nil:
		return Answer{State: Yes, Why: what + " in a new namespace worked"}
	case errors.Is(err, syscall.EINVAL):
		// The kind is looked up before its options are checked
		// (rtnl_newlink_create, qdisc_create), and none were given.
		return Answer{State: Yes, Why: what + ": the kernel knows the kind"}
	case errors.Is(err, absent):
		return Answer{State: No, Why: fmt.Sprintf("%s: %v", what, err)}
	}
	return Answer{Why: fmt.Sprintf("%s: %v", what, err)}
}

func release() string {
	text, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.TrimSpace(string(text))
}

// tryLink adds a link with nothing but its kind.
func tryLink(kind string) error {
	info := nl.NewRtAttr(syscall.IFLA_LINKINFO, nil)
	info.AddRtAttr(infoKind, nl.NonZeroTerminated(kind))
	return request(syscall.RTM_NEWLINK, make([]byte, linkHead), info)
}

// tryQdisc adds a discipline without options to lo.
func tryQdisc(kind string) error {
	head := make([]byte, tcHead)
	copy(head[4:], nl.Uint32Attr(loopback))
	copy(head[12:], nl.Uint32Attr(rootQueue))
	return request(syscall.RTM_NEWQDISC, head, nl.NewRtAttr(tcaKind, nl.ZeroTerminated(kind)))
}

type fixed []byte

func (f fixed) Len() int          { return len(f) }
func (f fixed) Serialize() []byte { return f }

// request opens a socket of its own, on this thread and so in its namespace.
func request(kind int, head []byte, attribute *nl.RtAttr) error {
	r := nl.NewNetlinkRequest(kind, syscall.NLM_F_CREATE|syscall.NLM_F_EXCL|syscall.NLM_F_ACK)
	r.AddData(fixed(head))
	r.AddData(attribute)
	_, err := r.Execute(syscall.NETLINK_ROUTE, 0)
	return err
}

// probeMPTCP opens an MPTCP socket. ENOPROTOOPT is a kernel that has it
// switched off (net.mptcp.enabled, mptcp_init_sock).
func probeMPTCP() Answer {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, protocolMPTCP)
	switch {
	case err == nil:
		syscall.Close(fd)
		return Answer{State: Yes, Why: "opened an MPTCP socket"}
	case errors.Is(err, syscall.EPROTONOSUPPORT), errors.Is(err, syscall.EINVAL):
		return Answer{State: No, Why: fmt.Sprintf("opening an MPTCP socket: %v", err)}
	case errors.Is(err, syscall.ENOPROTOOPT):
		return Answer{State: No, Why: "the kernel has MPTCP and net.mptcp.enabled is 0"}
	}
	return Answer{Why: fmt.Sprintf("opening an MPTCP socket: %v", err)}
}
