// Scale measures what figure scale-1 shows: processor time and memory of a process that solves one model, for models of
// many families and sizes.
//
//	go run ./internal/cmd/scale > plots/scale/measured.csv
//
// Each case is solved three times, by a process of its own, of which the least counts. The whole takes some minutes.
package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"log"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"productform/plots/scale"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) == 2 {
		k, err := strconv.Atoi(os.Args[1])
		if err == nil {
			err = scale.Cases()[k].Run(context.Background())
		}
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := measure(); err != nil {
		log.Fatal(err)
	}
}

// measure writes a row for each case.
func measure() error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	w := csv.NewWriter(os.Stdout)
	fmt.Printf("# %s, %d cores, %s\n", processorName(), runtime.NumCPU(), runtime.Version())
	rows := [][]string{{"family", "size", "seconds", "mebibytes"}}
	for k, c := range scale.Cases() {
		seconds, memory := 0.0, int64(0)
		for try := range 3 {
			cmd := exec.Command(own, strconv.Itoa(k))
			cmd.Stderr = os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s %d: %w", c.Family, c.Size, err)
			}
			used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			peak := int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) // kibibytes on Linux
			if try == 0 || used.Seconds() < seconds {
				seconds = used.Seconds()
			}
			if try == 0 || peak < memory {
				memory = peak
			}
		}
		fmt.Fprintf(os.Stderr, "%s %d: %.3f s, %d MiB\n", c.Family, c.Size, seconds, memory>>10)
		rows = append(rows, []string{c.Family, strconv.Itoa(c.Size), fmt.Sprintf("%.3g", seconds), strconv.FormatInt(memory>>10, 10)})
	}
	return w.WriteAll(rows)
}

// processorName returns the name of the processor, as Linux tells it.
func processorName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.Trim(name, "\t :\n")
		}
	}
	return runtime.GOARCH
}
