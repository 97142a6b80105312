package unit

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseRatio reads a number from 0 to below 1, or a percentage.
func ParseRatio(s string) (float64, error) {
	v, err := parsePart(s)
	if err != nil || v == 1 {
		return 0, fmt.Errorf("%q is not a ratio from 0 to below 1", s)
	}
	return v, nil
}

// ParseShare reads a number from 0 to 1, or a percentage.
func ParseShare(s string) (float64, error) {
	v, err := parsePart(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a share from 0 to 1", s)
	}
	return v, nil
}

// parsePart reads a number from 0 to 1, or a percentage.
func parsePart(s string) (float64, error) {
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err == nil && !(v >= 0 && v <= 1) {
		err = strconv.ErrRange
	}
	return v, err
}
