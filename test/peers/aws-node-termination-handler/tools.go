//go:build tools

// Names the program, so that go mod tidy keeps what it is built from.
package tools

import _ "github.com/aws/aws-node-termination-handler/cmd"
