// Clients uses minio-go and aws-sdk-go-v2 against a server, as programs do.
//
//	clients ENDPOINT ACCESS SECRET REGION [CORRUPTING]
//
// CORRUPTING is the endpoint of a proxy that changes bodies on their way. Where SSL_CERT_FILE is set, it is trusted.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"time"
)

// What the proxy looks for.
const marker = "CHANGE THIS ON THE WAY"

// The least that a part may have, and an object of four parts.
const (
	part = 5 << 20
	long = 3*part + 1234
)

// Where requests go, and who sends them.
type target struct {
	endpoint, access, secret, region string
}

// A report prints a line for each case.
type report struct {
	client string
	failed int
}

func (r *report) run(name string, run func(context.Context) error) {
	started := time.Now()
	context, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(context); err != nil {
		r.failed++
		fmt.Printf("FAILED  %s: %s: %v\n", r.client, name, err)
		return
	}
	fmt.Printf("ok      %s: %s (%.1f s)\n", r.client, name, time.Since(started).Seconds())
}

func random(length int) []byte {
	data := make([]byte, length)
	rand.Read(data)
	return data
}

// A body that the proxy changes.
func marked() []byte {
	return bytes.Repeat([]byte(marker+"."), 100)
}

func same(what string, got, expected []byte) error {
	if !bytes.Equal(got, expected) {
		return fmt.Errorf("%s: other bytes: %d, expected %d", what, len(got), len(expected))
	}
	return nil
}

// The error that a request must have failed with.
func refused(code, expected string, err error) error {
	if err == nil {
		return fmt.Errorf("expected %s, got no error", expected)
	}
	if code != expected {
		return fmt.Errorf("expected %s, got %s: %w", expected, code, err)
	}
	return nil
}

func main() {
	if len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "usage: clients ENDPOINT ACCESS SECRET REGION [CORRUPTING]")
		os.Exit(2)
	}
	to := target{os.Args[1], os.Args[2], os.Args[3], os.Args[4]}
	corrupting := ""
	if len(os.Args) > 5 {
		corrupting = os.Args[5]
	}
	if minioGo(to, corrupting)+awsSdk(to, corrupting) > 0 {
		os.Exit(1)
	}
}
