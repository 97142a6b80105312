package act

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sysctl"
)

// setSysctl sets one key, and no other along with it.
func setSysctl(key, value string) error {
	canonical, err := sysctl.Canonical(key)
	if err != nil {
		return err
	}
	if name, ok := strings.CutPrefix(canonical, "net.ipv4.conf.default."); ok {
		if err := pinLinks(name); err != nil {
			return err
		}
	}
	return sysctl.Write(key, value, inNamespace())
}

// pinLinks writes every link's own setting back as it is: a link whose setting
// nobody ever wrote would follow conf.default (devinet_copy_dflt_conf,
// net/ipv4/devinet.c), which is to be that of links made later.
func pinLinks(name string) error {
	const dir = "/proc/sys/net/ipv4/conf/"
	links, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list links' settings: %w", err)
	}
	for _, l := range links {
		if l.Name() == "all" || l.Name() == "default" {
			continue
		}
		file := dir + l.Name() + "/" + name
		value, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, value, 0)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("keep a link's setting: %w", err)
		}
	}
	return nil
}

func readSysctl(key string) (string, error) {
	values, err := sysctl.Read(key)
	if err != nil {
		return "", err
	}
	for _, v := range values {
		return v.Value, nil
	}
	return "", fs.ErrNotExist
}

// inNamespace reports whether the calling thread is in another network
// namespace than the machine's first process. Who may not look there is taken
// to be inside: then global keys are refused.
func inNamespace() bool {
	first, err := netns.InFirst()
	return err != nil || !first
}
