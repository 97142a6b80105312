package cloud

// nearest is the candidate that takes the fewest changes of a character to
// write instead, the first of equals; "" without candidates.
func nearest(name string, candidates []string) string {
	best, least := "", 0
	for _, c := range candidates {
		if d := distance(name, c); best == "" || d < least {
			best, least = c, d
		}
	}
	return best
}

// maxName bounds what distance looks at, since it takes time by the product
// of both lengths.
const maxName = 64

// distance is Levenshtein's: insertions, deletions and replacements.
func distance(a, b string) int {
	a, b = a[:min(len(a), maxName)], b[:min(len(b), maxName)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := corner
			if a[i] != b[j] {
				replace++
			}
			corner = row[j+1]
			row[j+1] = min(replace, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
