//go:build tools

// Package tools names the program that this module pins; nothing of it is compiled here.
package tools

import _ "k8s.io/node-problem-detector/cmd/nodeproblemdetector"
