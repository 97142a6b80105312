package main

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/host"
)

// sysctlsPage is what inspect judges of tunables.
func sysctlsPage() string {
	var b strings.Builder
	b.WriteString("# Tunables that `inspect` judges\n\n" + madeBy + "`linerate inspect` says which of these a host has wrong, and what to do. A value that is not here is not judged.\n\n")
	b.WriteString("| key | wrong is | why | what to do | source |\n|---|---|---|---|---|\n")
	for _, r := range host.SysctlRows() {
		fmt.Fprintf(&b, "| `%s` | %s (%s) | %s | %s | %s |\n", r.Key, r.Wrong, r.Severity, cell(r.Why), cell(strings.ReplaceAll(r.Remedy, "KEY", "it")), cell(r.Source))
	}
	return b.String()
}
