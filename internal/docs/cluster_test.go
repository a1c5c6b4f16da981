package docs_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"
)

// clusterFiles is the directory of the files that run pfq on many machines.
const clusterFiles = root + "/examples/cluster"

// testClusterFiles runs the files of examples/cluster as they would run on a real cluster, with
// processes of the program pfq.
func testClusterFiles(t *testing.T, pfq string) {
	bin := t.TempDir()
	if err := os.Symlink(pfq, filepath.Join(bin, "pfq")); err != nil {
		t.Fatal(err)
	}
	alone, _ := newSite(t, bin, "").run(nil, strings.Fields(command)...)
	for name, test := range map[string]func(*site){
		"shell":      testShell,
		"slurm":      testSlurm,
		"kubernetes": testKubernetes,
	} {
		t.Run(name, func(t *testing.T) { test(newSite(t, bin, alone)) })
	}
}

// A site is a folder with the model, the folder of the pfq binary, and the answer of one process.
type site struct {
	*testing.T
	folder, bin, alone string
}

func newSite(t *testing.T, bin, alone string) *site {
	t.Helper()
	s := &site{t, t.TempDir(), bin, alone}
	model, err := os.ReadFile(filepath.Join(clusterFiles, "model.yaml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(s.folder, "model.yaml"), model, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs a command in the folder and returns what it prints.
func (s *site) run(environment []string, words ...string) (stdout, stderr string) {
	name := words[0]
	if name == "pfq" {
		name = filepath.Join(s.bin, name)
	}
	cmd := exec.CommandContext(s.Context(), name, words[1:]...)
	cmd.Dir, cmd.Env = s.folder,
		append(os.Environ(), append(environment, "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"))...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		s.Errorf("%q: %v\n%s", words, err, &said)
	}
	return out.String(), said.String()
}

const command = "pfq simulate model.yaml --policy fcfs --sizes lognormal:4 --runs 64 --jumps 5000 --format json"

// check compares the result of a folder, which must contain all runs, with that of one process.
func (s *site) check(results string) {
	s.Helper()
	files, err := filepath.Glob(filepath.Join(s.folder, results, "*", "*"))
	if err != nil || len(files) != 64 {
		s.Errorf("%s: %d files, %v", results, len(files), err)
	}
	want := regexp.MustCompile(`"jumps_per_second": .*`).ReplaceAllString(s.alone, `"jumps_per_second": null,`)
	got, _ := s.run(nil, strings.Fields(command+" --results "+results)...)
	got = regexp.MustCompile(`"jumps_per_second": null.*`).ReplaceAllString(got, `"jumps_per_second": null,`)
	if got != want {
		s.Errorf("%s: the answer is\n%s\nbut one process gives\n%s", results, got, want)
	}
}

// The script runs eight processes that share a folder.
func testShell(t *site) {
	script, err := filepath.Abs(filepath.Join(clusterFiles, "parts.sh"))
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := t.run(nil, "/bin/sh", script, "--format", "csv")
	if !strings.HasPrefix(stdout, "kind,name,") || strings.Count(stderr, ": 8 runs, 0 of them found\n") != 8 {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	t.check("runs")
}

// The array has one element per part. They run as under Slurm: several at once, in arbitrary order,
// and one of them twice.
func testSlurm(t *site) {
	text, err := os.ReadFile(filepath.Join(clusterFiles, "array.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	array := regexp.MustCompile(`(?m)^#SBATCH --array=0-(\d+)$`).FindSubmatch(text)
	if array == nil || !bytes.HasPrefix(text, []byte("#!/bin/sh\n#SBATCH ")) {
		t.Fatal("no array")
	}
	last, err := strconv.Atoi(string(array[1]))
	if err != nil || !strings.Contains(string(text), fmt.Sprintf("--part \"$SLURM_ARRAY_TASK_ID/%d\"", last+1)) {
		t.Errorf("the array ends at %d, %v", last, err)
	}
	script, err := filepath.Abs(filepath.Join(clusterFiles, "array.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	var elements sync.WaitGroup
	for _, k := range append(rand.Perm(last+1), 2) {
		elements.Go(func() {
			if stdout, _ := t.run([]string{fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", k)}, "/bin/sh", script); stdout != "" {
				t.Errorf("element %d printed %s", k, stdout)
			}
		})
	}
	elements.Wait()
	t.check("runs")
}

// A job holds the fields of job.yaml that the test checks.
type job struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		CompletionMode       string `yaml:"completionMode"`
		Completions          int
		Parallelism          int
		BackoffLimitPerIndex int            `yaml:"backoffLimitPerIndex"`
		PodFailurePolicy     map[string]any `yaml:"podFailurePolicy"`
		Template             struct {
			Spec struct {
				RestartPolicy string `yaml:"restartPolicy"`
				Containers    []struct {
					Name, Image   string
					Command, Args []string
					Resources     map[string]any
					VolumeMounts  []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
						ReadOnly  bool   `yaml:"readOnly"`
					} `yaml:"volumeMounts"`
				}
				Volumes []map[string]any
			}
		}
	}
}

// The job has one index per part. Its command runs as under Kubernetes, with the index substituted
// for its variable. The volumes are folders, and the model is a file in one of them.
func testKubernetes(t *site) {
	text, err := os.ReadFile(filepath.Join(clusterFiles, "job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var j job
	if err := yaml.Load(text, &j, yaml.WithKnownFields()); err != nil {
		t.Fatal(err)
	}
	spec := j.Spec.Template.Spec
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Metadata.Name != "pfq" ||
		j.Spec.CompletionMode != "Indexed" || j.Spec.BackoffLimitPerIndex < 1 ||
		spec.RestartPolicy != "Never" || len(spec.Containers) != 1 || j.Spec.Completions < 2 {
		t.Fatalf("%+v", j)
	}
	c := spec.Containers[0]
	volumes := map[string]bool{}
	for _, v := range spec.Volumes {
		volumes[fmt.Sprint(v["name"])] = true
	}
	mounts := []string{}
	for _, m := range c.VolumeMounts {
		if !volumes[m.Name] {
			t.Errorf("no volume %s", m.Name)
		}
		folder := filepath.Join(t.folder, m.Name)
		if m.ReadOnly {
			folder = t.folder // with model.yaml
		}
		mounts = append(mounts, m.MountPath+"/", folder+"/")
	}
	place := strings.NewReplacer(mounts...)
	for _, k := range rand.Perm(j.Spec.Completions) {
		words := []string{}
		for _, word := range append(c.Command, c.Args...) {
			word = strings.ReplaceAll(word, "$(JOB_COMPLETION_INDEX)", strconv.Itoa(k))
			if strings.HasPrefix(word, "/") {
				word = place.Replace(word)
			}
			words = append(words, word)
		}
		if want := fmt.Sprintf("%d/%d", k, j.Spec.Completions); words[len(words)-1] != want ||
			strings.Contains(strings.Join(words, " "), "$") {
			t.Fatalf("%q, want the part %s", words, want)
		}
		if stdout, _ := t.run([]string{"JOB_COMPLETION_INDEX=" + strconv.Itoa(k)}, words...); stdout != "" {
			t.Errorf("index %d printed %s", k, stdout)
		}
	}
	t.check("shared/runs")
}
