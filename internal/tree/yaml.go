package tree

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parseYAML returns the tree of a YAML text of one document, nil if it holds nothing but comments. Anchors, aliases,
// merge keys and tags are refused: a model has no use for them, and expanding them is unbounded.
func parseYAML(data []byte) (tree *Node, err error) {
	defer func() { // the parser is not ours: where it gives up is a bad text, not a broken invariant
		if r := recover(); r != nil {
			tree, err = nil, &SyntaxError{Line: 1, Column: 1, Reason: fmt.Sprintf("not YAML that can be read: %v", r)}
		}
	}()
	if len(data) > maxYAML {
		return nil, errTooLong(maxYAML, "YAML")
	}
	tokens := lexer.Tokenize(string(data))
	if err := checkNesting(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			return nil, tokenError(syntax.GetToken(), syntax.GetMessage())
		}
		return nil, syntaxErrorAt(data, 0, "%v", err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if _, ok := doc.Body.(*ast.DirectiveNode); ok {
			continue // %YAML 1.2
		}
		if body != nil {
			return nil, secondDocument(doc)
		}
		body = doc.Body
	}
	if body == nil {
		return nil, nil
	}
	return fromYAML(body)
}

// checkNesting refuses what no model has, for the parser recurses on it, in time and memory
// quadratic in the depth: brackets nested deeply, blocks indented far, and many fields of
// blocks in a row without a list between them.
func checkNesting(tokens token.Tokens) error {
	brackets, fields := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets = max(brackets-1, 0)
		case token.SequenceEntryType:
			fields = 0
		case token.MappingValueType, token.MappingKeyType:
			if brackets == 0 {
				fields++
			}
		default:
			continue
		}
		if brackets > 100 || fields > 1000 || brackets == 0 && t.Position.Column > 1000 {
			return tokenError(t, "nested more deeply than any model")
		}
	}
	return nil
}

func secondDocument(doc *ast.DocumentNode) error {
	start := doc.Start // ---, if it is there
	if start == nil && doc.Body != nil {
		start = doc.Body.GetToken()
	}
	return tokenError(start, "a second document; want one model a file")
}

// fromYAML returns the tree of a value.
func fromYAML(n ast.Node) (*Node, error) {
	switch n := n.(type) {
	case nil:
		return &Node{Kind: Null}, nil
	case *ast.NullNode:
		return &Node{Kind: Null}, nil
	case *ast.BoolNode:
		return &Node{Kind: Boolean, Text: n.Token.Value}, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return &Node{Kind: Number, Text: n.GetToken().Value}, nil
	case *ast.StringNode:
		return &Node{Kind: Text, Text: n.Value}, nil
	case *ast.LiteralNode:
		return &Node{Kind: Text, Text: n.Value.Value}, nil
	case *ast.SequenceNode:
		s := &Node{Kind: Array, Kids: make([]Node, len(n.Values))}
		for i, v := range n.Values {
			kid, err := fromYAML(v)
			if err != nil {
				return nil, err
			}
			s.Kids[i] = *kid
		}
		return s, nil
	case *ast.MappingNode:
		return fromMapping(n.Values)
	case *ast.MappingValueNode:
		return fromMapping([]*ast.MappingValueNode{n})
	case *ast.AnchorNode, *ast.AliasNode:
		return nil, tokenError(n.GetToken(), "anchors and aliases are not read; write the value in full")
	case *ast.TagNode:
		return nil, tokenError(n.GetToken(), "tags are not read; write the plain value")
	}
	return nil, tokenError(n.GetToken(), "want a plain value, a list or a mapping")
}

func fromMapping(pairs []*ast.MappingValueNode) (*Node, error) {
	n := &Node{Kind: Object, Keys: make([]string, len(pairs)), Kids: make([]Node, len(pairs))}
	for i, pair := range pairs {
		switch key := pair.Key.(type) {
		case *ast.StringNode:
			n.Keys[i] = key.Value
		case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode, *ast.BoolNode, *ast.NullNode:
			n.Keys[i] = key.GetToken().Value
		case *ast.MergeKeyNode:
			return nil, tokenError(key.GetToken(), "merge keys are not read; write the fields in full")
		default:
			return nil, tokenError(key.GetToken(), "want a plain word as the name of a field")
		}
		kid, err := fromYAML(pair.Value)
		if err != nil {
			return nil, err
		}
		n.Kids[i] = *kid
	}
	return n, nil
}

// tokenError returns a [SyntaxError] at a token.
func tokenError(t *token.Token, reason string) error {
	e := &SyntaxError{Line: 1, Column: 1, Reason: reason}
	if t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	return e
}
