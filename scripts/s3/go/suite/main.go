// Suite runs tests of versitygw's own suite by name against a server, several at once.
//
//	suite list                                          prints the names of all tests, one a line
//	suite ENDPOINT ACCESS SECRET REGION WORKERS < NAMES  runs those named on standard input
//
// Tests that look at all buckets are run alone, after the others, as versitygw itself does.
package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/versity/versitygw/tests/integration"
)

func main() {
	tests := integration.GetIntTests()
	if len(os.Args) == 2 && os.Args[1] == "list" {
		names := make([]string, 0, len(tests))
		for name := range tests {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Println(strings.Join(names, "\n"))
		return
	}
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "usage: suite ENDPOINT ACCESS SECRET REGION WORKERS < NAMES")
		os.Exit(2)
	}
	workers, err := strconv.Atoi(os.Args[5])
	if err != nil || workers < 1 {
		fmt.Fprintln(os.Stderr, "suite: WORKERS is no number:", os.Args[5])
		os.Exit(2)
	}

	var shared, alone []string
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		name := lines.Text()
		if _, known := tests[name]; !known {
			fmt.Fprintln(os.Stderr, "suite: no such test:", name)
			os.Exit(2)
		}
		if strings.HasPrefix(name, "ListBuckets_") {
			alone = append(alone, name)
		} else {
			shared = append(shared, name)
		}
	}

	// The tests print in colours, and the SDK warns; what is to be seen goes through `output`.
	output := os.Stdout
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Stdout, os.Stderr = nowhere, nowhere
	conf := integration.NewS3Conf(
		integration.WithEndpoint(os.Args[1]),
		integration.WithAccess(os.Args[2]),
		integration.WithSecret(os.Args[3]),
		integration.WithRegion(os.Args[4]),
	)
	var lock sync.Mutex
	passed, failed := 0, 0
	run := func(name string) {
		err := attempt(tests[name], conf)
		lock.Lock()
		defer lock.Unlock()
		if err != nil {
			failed++
			fmt.Fprintf(output, "FAILED  %s: %v\n", name, err)
		} else {
			passed++
		}
	}

	names := make(chan string)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for name := range names {
				run(name)
			}
		})
	}
	for _, name := range shared {
		names <- name
	}
	close(names)
	group.Wait()
	for _, name := range alone {
		run(name)
	}
	fmt.Fprintf(output, "versitygw's tests: %d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

// Attempt runs a test. Some panic where an answer lacks what they look for.
func attempt(test integration.IntTest, conf *integration.S3Conf) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	return test(conf)
}
