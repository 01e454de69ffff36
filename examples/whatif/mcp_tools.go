package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
)

// tool is a question of serve for agents: what openapi.json says of one without a body.
type tool struct {
	OperationID string      `json:"operationId"`
	Summary     string      `json:"summary"`
	Parameters  []parameter `json:"parameters"`
	Responses   map[string]struct {
		Content map[string]json.RawMessage `json:"content"`
	} `json:"responses"`

	path string
}

// parameter is a parameter of a question.
type parameter struct {
	Name        string         `json:"name"`
	In          string         `json:"in"` // path or query
	Description string         `json:"description"`
	Required    bool           `json:"required"`
	Schema      map[string]any `json:"schema"`
}

// tools are the questions of serve that need no body and have one answer, by name.
func tools() ([]tool, error) {
	var api struct {
		Paths map[string]struct {
			Get *tool `json:"get"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(serve.Description, &api); err != nil {
		return nil, err
	}
	var list []tool
	for path, of := range api.Paths {
		if t := of.Get; t != nil && t.Responses["200"].Content["application/json"] != nil {
			t.path = path
			list = append(list, *t)
		}
	}
	slices.SortFunc(list, func(a, b tool) int { return strings.Compare(a.OperationID, b.OperationID) })
	return list, nil
}

// describe is the tool as agents see it.
func (t *tool) describe() *mcp.Tool {
	properties, required := map[string]any{}, []string{}
	for _, p := range t.Parameters {
		one := map[string]any{"description": p.Description}
		for name, value := range p.Schema {
			one[name] = value
		}
		if properties[p.Name] = one; p.Required {
			required = append(required, p.Name)
		}
	}
	return &mcp.Tool{
		Name: t.OperationID, Description: t.Summary + ".",
		InputSchema: map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true},
	}
}

// by answers as a handler does over HTTP.
func (t *tool) by(handler http.Handler) mcp.ToolHandler {
	return func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		asked, err := t.request(ctx, call.Params.Arguments)
		if err != nil {
			return failed(err.Error()), nil
		}
		answer := heard{header: http.Header{}, status: http.StatusOK}
		handler.ServeHTTP(&answer, asked)
		text := strings.TrimSpace(answer.body.String())
		if answer.status != http.StatusOK {
			return failed(text), nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: json.RawMessage(text)}, nil
	}
}

// failed is an answer that says what is wrong, for the agent to mend it.
func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// request is the question over HTTP. A value that is a list is several parameters.
func (t *tool) request(ctx context.Context, arguments json.RawMessage) (*http.Request, error) {
	values := map[string]json.RawMessage{}
	if len(arguments) > 0 {
		if err := objects.DecodeStrict(arguments, &values); err != nil {
			return nil, err
		}
	}
	path, query := t.path, url.Values{}
	for _, p := range t.Parameters {
		if p.In != "path" {
			continue
		}
		texts, err := textsOf(p.Name, values[p.Name])
		if err != nil || len(texts) != 1 || strings.Trim(texts[0], ".") == "" { // a path with dots is another one
			return nil, fmt.Errorf("%s: want one name", p.Name)
		}
		path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(texts[0]))
		delete(values, p.Name)
	}
	for name, value := range values {
		texts, err := textsOf(name, value)
		if err != nil {
			return nil, err
		}
		query[name] = texts
	}
	return http.NewRequestWithContext(ctx, http.MethodGet, path+"?"+query.Encode(), http.NoBody)
}

// textsOf are the texts of a value: a text, a number, or a list of these; none of null.
func textsOf(name string, value json.RawMessage) (texts []string, err error) {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	if len(value) > 0 {
		err = decoder.Decode(&v)
	}
	list, is := v.([]any)
	if !is && v != nil {
		list = []any{v}
	}
	for _, one := range list {
		switch one := one.(type) {
		case string:
			texts = append(texts, one)
		case json.Number:
			texts = append(texts, one.String())
		default:
			return nil, fmt.Errorf("%s: want a text, a number, or a list of them", name)
		}
	}
	return texts, err
}

// heard is the answer to a question that is asked in the program.
type heard struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *heard) Header() http.Header            { return h.header }
func (h *heard) WriteHeader(status int)         { h.status = status }
func (h *heard) Write(text []byte) (int, error) { return h.body.Write(text) }
