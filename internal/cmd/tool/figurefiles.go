package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"

	"productform/plots"
	"productform/plots/draw"
)

// check returns the number of files checked in a folder with figures of these names, and the faults
// found.
func check(folder string, ids []string) (files int, faults []error) {
	look := func(name string, form func([]byte) error) {
		files++
		data, err := os.ReadFile(filepath.Join(folder, name))
		switch {
		case err != nil:
		case len(data) == 0:
			err = errors.New("empty")
		default:
			err = form(data)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
		}
	}
	forms := map[draw.Format]func([]byte) error{draw.PNG: pngForm, draw.SVG: svgForm, draw.PDF: pdfForm,
		draw.CSV: csvForm}
	for _, id := range ids {
		for _, format := range draw.Formats() {
			if format != draw.HTML {
				look(draw.FileName(&plots.Figure{ID: id}, format), forms[format])
			}
		}
	}
	look("checks.json", func(data []byte) error { return checksForm(data, ids) })
	for _, name := range draw.PageNames() {
		look(name, func(data []byte) error {
			if name != draw.FileName(nil, draw.HTML) {
				return pageForm(data, folder, nil)
			}
			return pageForm(data, folder, ids)
		})
	}
	return files, faults
}

func pngForm(data []byte) error {
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	b := picture.Bounds()
	first := picture.At(b.Min.X, b.Min.Y)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if picture.At(x, y) != first {
				return nil
			}
		}
	}
	return errors.New("of one colour")
}

func svgForm(data []byte) error {
	paths := 0
	_, err := elements(data, true, func(e xml.StartElement) {
		if e.Name.Local == "path" {
			paths++
		}
	})
	if err == nil && paths == 0 {
		err = errors.New("no path drawn")
	}
	return err
}

func pdfForm(data []byte) error {
	if !bytes.HasPrefix(data, []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(data), []byte("%%EOF")) {
		return errors.New("not a whole PDF file")
	}
	return nil
}

func csvForm(data []byte) error {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err == nil && len(rows) < 2 {
		err = errors.New("no data")
	}
	return err
}

// checksForm requires a check for every figure that compares two numbers; neither a single check
// nor all together may fail.
func checksForm(data []byte, ids []string) error {
	var checks []plots.Check
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&checks); err != nil {
		return err
	}
	for _, c := range checks {
		if !c.OK() || c.Solver == nil && c.Simulated == nil {
			return fmt.Errorf("%s, %s fails", c.Figure, c.Quantity)
		}
	}
	if s := plots.Summarize(checks); !s.OK() {
		return errors.New("the simulated numbers together contradict theory")
	}
	for _, id := range ids {
		found := false
		for _, c := range checks {
			found = found || strings.HasPrefix(c.Figure, id)
		}
		if !found {
			return fmt.Errorf("nothing of %s is checked", id)
		}
	}
	return nil
}

// pageForm requires a section for every figure, and every href and src to lead to a file of the
// folder, an id of the page, or a paper.
func pageForm(data []byte, folder string, ids []string) error {
	sections := map[string]bool{}
	var links []string
	pictures, err := elements(data, false, func(e xml.StartElement) {
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "id":
				sections[a.Value] = true
			case "href", "src":
				links = append(links, a.Value)
			}
		}
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !sections[id] {
			return fmt.Errorf("no section for %s", id)
		}
	}
	if pictures < len(ids) {
		return fmt.Errorf("%d pictures of %d", pictures, len(ids))
	}
	for _, link := range links {
		if id, inside := strings.CutPrefix(link, "#"); inside {
			if !sections[id] {
				return fmt.Errorf("no id for the link %q", link)
			}
			continue
		}
		if strings.HasPrefix(link, "https://") {
			continue // link to a paper
		}
		if info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(link))); err != nil || info.Size() == 0 {
			return fmt.Errorf("no file for the link %q", link)
		}
	}
	return nil
}

// elements visits the elements of an XML or HTML text and counts those named img.
func elements(data []byte, strict bool, visit func(xml.StartElement)) (pictures int, err error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	if !strict {
		d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return pictures, nil
		}
		if err != nil {
			return pictures, err
		}
		if e, ok := token.(xml.StartElement); ok {
			if e.Name.Local == "img" {
				pictures++
			}
			visit(e)
		}
	}
}
