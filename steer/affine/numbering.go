package affine

// numbering gives each link of a switch a number of as many bits as the hash
// has, such that the hash is affine in these numbers. Link 0 is number 0: any
// other start is a constant more.
type numbering [8]uint8

// numberings are all that may be, up to affine maps of the numbers. Every
// numbering of two or four links is an affine map of every other (2 of 2, 24
// of 24 permutations), so one stands for all; of eight links 1344 of 40320
// are, so that thirty stand for all.
func numberings(links int) []numbering {
	var first numbering
	for i := range links {
		first[i] = uint8(i)
	}
	if links != 8 {
		return []numbering{first}
	}
	// A linear map takes any two links to 1 and 2. The link of 3 is one of the
	// other five; the least of the four left is then taken to 4, and the last
	// three get 5, 6 and 7 in any order.
	var all []numbering
	for third := 3; third < 8; third++ {
		var left []int
		for link := 3; link < 8; link++ {
			if link != third {
				left = append(left, link)
			}
		}
		for _, order := range [][3]uint8{{5, 6, 7}, {5, 7, 6}, {6, 5, 7}, {6, 7, 5}, {7, 5, 6}, {7, 6, 5}} {
			n := first
			n[third], n[left[0]] = 3, 4
			for i, number := range order {
				n[left[i+1]] = number
			}
			all = append(all, n)
		}
	}
	return all
}

// link is the link of a number.
func (n numbering) link(number uint8) int {
	for i, have := range n {
		if have == number {
			return i
		}
	}
	return -1
}
