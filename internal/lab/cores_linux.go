package lab

import "github.com/linerate/linerate/internal/kernel/sys"

// Cores are those that labs may stand on, ascending: this program's own.
func Cores() ([]int, error) { return sys.Affinity() }
