// Package predicting holds predictions against running kernels: networks drawn
// at random are built, predicted and measured, and the limit that was named is
// mended to see the rate rise.
package predicting
