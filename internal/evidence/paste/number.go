package paste

import "strconv"

// atoi is a number of plain digits; -1 for what is none.
func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return -1
	}
	return n
}
