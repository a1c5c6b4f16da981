package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v4"
)

// bash can parse the scripts.
func TestScripts(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Log("not checked, as bash is not installed")
		return
	}
	for _, script := range []string{".ci/run", "scripts/release.sh"} {
		if out, err := exec.Command(bash, "-n", filepath.Join(root, script)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
}

// readYAML reads a YAML file of the module.
func readYAML[T any](t *testing.T, name string) (v T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err == nil {
		err = yaml.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// Hosted checks run .ci/run, the form for a wrong number requires what is needed to find the fault,
// and the citation names the paper.
func TestHosting(t *testing.T) {
	type step struct{ Run string }
	workflow := readYAML[struct {
		Jobs map[string]struct{ Steps []step }
	}](t, ".github/workflows/ci.yml")
	if !slices.Contains(workflow.Jobs["check"].Steps, step{".ci/run"}) {
		t.Error("the workflow does not run .ci/run")
	}
	form := readYAML[struct {
		Body []struct {
			ID          string
			Validations struct{ Required bool }
		}
	}](t, ".github/ISSUE_TEMPLATE/wrong-number.yml")
	var required []string
	for _, field := range form.Body {
		if field.Validations.Required {
			required = append(required, field.ID)
		}
	}
	if want := []string{"model", "command", "engine", "version", "expected"}; !slices.Equal(required, want) {
		t.Errorf("the form requires %v, want %v", required, want)
	}
	citation := readYAML[struct {
		Title, Message, Version string
		CFF                     string `yaml:"cff-version"`
		Authors                 []map[string]string
		References              []struct{ DOI string }
	}](t, "CITATION.cff")
	if citation.Title != "productform" || citation.Message == "" || citation.Version == "" || citation.CFF != "1.2.0" ||
		len(citation.Authors) == 0 || len(citation.References) == 0 || citation.References[0].DOI == "" {
		t.Errorf("%+v", citation)
	}
}
