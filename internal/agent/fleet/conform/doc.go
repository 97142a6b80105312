// Package conform is what every transport of fleet has to do, as one suite: a
// transport's test calls Run. It needs root, for two network namespaces of its
// own.
package conform
