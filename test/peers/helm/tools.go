//go:build tools

// Package tools names the program that this module pins; nothing of it is compiled here.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
