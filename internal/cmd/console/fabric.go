package console

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
)

// ReadFabric reads and checks a fabric file.
func ReadFabric(ctx context.Context, path string) (fabric.Fabric, error) {
	text, err := ReadNamed(ctx, "read fabric", path, MostFabric)
	if err != nil {
		return fabric.Fabric{}, err
	}
	return fabric.Parse(path, text)
}

// LabJournal is where changes to lab hosts are journalled: it goes when the
// machine goes, as they do.
const LabJournal = "/run/linerate-lab-journal"

func HostNames(f fabric.Fabric) string {
	var names []string
	for _, h := range f.Hosts {
		names = append(names, h.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// ChosenHost is the host that a command is for, which may be left unsaid where
// there is one only.
func ChosenHost(command string, file fabric.Fabric, name string) (string, error) {
	var names []string
	for _, h := range file.Hosts {
		names = append(names, h.Name)
	}
	switch {
	case name == "" && len(names) == 1:
		return names[0], nil
	case name == "":
		return "", BadUsage(command+": want --host", "hosts of "+file.File+" are "+strings.Join(names, ", "))
	case !slices.Contains(names, name):
		return "", BadUsage(fmt.Sprintf("%s: %s has no host %s", command, file.File, name), OrMeant(name, names, "", "its hosts are "+strings.Join(names, ", ")))
	}
	return name, nil
}
