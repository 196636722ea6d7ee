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
	"time"

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

	// The tests print on standard output, in colours; what is to be seen goes through `output`.
	output := os.Stdout
	if os.Stdout, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	conf := integration.NewS3Conf(
		integration.WithEndpoint(os.Args[1]),
		integration.WithAccess(os.Args[2]),
		integration.WithSecret(os.Args[3]),
		integration.WithRegion(os.Args[4]),
	)
	var lock sync.Mutex
	passed, failed := 0, 0
	run := func(name string) {
		started := time.Now()
		err := attempt(tests[name], conf)
		took := time.Since(started).Seconds()
		lock.Lock()
		defer lock.Unlock()
		if err != nil {
			failed++
			fmt.Fprintf(output, "FAILED  %s: %v\n", name, err)
		} else {
			passed++
			if took > 5 {
				fmt.Fprintf(output, "        %s took %.1f s\n", name, took)
			}
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
