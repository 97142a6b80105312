package unit

import (
	"slices"
	"strconv"
)

// Runs are numbers in order, each once, as the kernel writes lists of them:
// "0-3" for neighbours, "8" for one alone.
func Runs(numbers []int) []string {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	var runs []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		run := strconv.Itoa(numbers[i])
		if j > i {
			run += "-" + strconv.Itoa(numbers[j])
		}
		runs = append(runs, run)
		i = j + 1
	}
	return runs
}
