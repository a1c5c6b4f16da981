package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// unpack reads what pack writes, bit by bit.
func unpack(text string, size int) []byte {
	var bits []int
	add := func(v, n int) {
		for k := range n {
			bits = append(bits, v>>k&1)
		}
	}
	for _, letter := range text {
		if letter < 128 {
			add(int(letter), 7)
		} else {
			add(int(unfit[(letter-128)/512]), 7)
			add(int(letter-128)%512, 9)
		}
	}
	data := make([]byte, size)
	for i := range 8 * size {
		data[i/8] |= byte(bits[i] << (i % 8))
	}
	return data
}

// Any bytes can be packed into a text that an element of a page can contain literally, and unpacked
// again.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0, 13, 60}))).Draw(t, "data")
		text := pack(bytes.Clone(data))
		if strings.ContainsAny(text, unfit) {
			t.Fatalf("%q", text)
		}
		if got := unpack(text, len(data)); !bytes.Equal(got, data) {
			t.Fatalf("%v became %v", data, got)
		}
	})
}

// element returns the text of an element of the page.
func element(t *testing.T, page []byte, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)` + pattern).FindSubmatch(page)
	if found == nil {
		t.Fatalf("no %s", pattern)
	}
	return string(found[1])
}

// The page contains the solver, the model and all scripts; its policy allows only these to run.
func TestOnePage(t *testing.T) {
	made, err := onePage(solver{wasm: []byte("the solver"), support: "support"}, start{
		Name: "a</script>.yaml",
		Text: "servers: <",
	})
	if err != nil {
		t.Fatal(err)
	}
	index := made[indexFile]
	size, err := strconv.Atoi(element(t, index, `id="solver" data-size="(\d+)"`))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(unpack(element(t, index, `data-size="\d+">(.*?)</script>`), size)))
	if err != nil {
		t.Fatal(err)
	}
	if wasm, err := io.ReadAll(z); err != nil || string(wasm) != "the solver" {
		t.Errorf("solver %q, %v", wasm, err)
	}
	var first start
	if err := json.Unmarshal([]byte(element(t, index, `id="start">(.*?)</script>`)), &first); err != nil ||
		first.Name != "a</script>.yaml" {
		t.Errorf("start %+v, %v", first, err)
	}
	policy := element(t, index, `Content-Security-Policy" content="(.*?)"`)
	for _, text := range []string{
		element(t, index, `<script>(.*?)</script>`), element(t, index, `<style>(.*?)</style>`),
	} {
		if !strings.Contains(policy, hash(text)) {
			t.Errorf("%s does not allow the element starting with %.60q", policy, text)
		}
	}
	if strings.Contains(policy, "unsafe-inline") || !strings.Contains(policy, "connect-src 'none'") {
		t.Error(policy)
	}
}

// The scripts contain no string literals that span several lines, which bare would change.
func TestBare(t *testing.T) {
	for _, name := range append([]string{"worker.js"}, scripts...) {
		text, err := files.ReadFile("page/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Count(line, "`")%2 != 0 {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	if got := bare("a\n  // b\n\tc // d\n"); got != "a\nc // d\n" {
		t.Errorf("without comments: %q", got)
	}
}

// The page contains all its files, and none of them ends its element prematurely.
func TestFiles(t *testing.T) {
	all, err := files.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	used := append([]string{indexFile, "page.css", "worker.js"}, scripts...)
	if len(all) != len(used) {
		t.Errorf("%d files, %d used", len(all), len(used))
	}
	for _, name := range used[1:] {
		text, err := files.ReadFile("page/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if low := bytes.ToLower(text); bytes.Contains(low, []byte("</s")) || bytes.Contains(low, []byte("<!--")) {
			t.Errorf("%s contains the end of an element", name)
		}
	}
}

func TestHandler(t *testing.T) {
	h := handler([]byte("page"))
	for path, want := range map[string]int{"/": http.StatusOK, "/other": http.StatusNotFound} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: status %d, want %d", path, w.Code, want)
		}
	}
}
