// The agent of the interoperation suite on the Go SDK, which speaks 0.3. Its words are those of ../python/agent.py.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"github.com/a2aproject/a2a-go/a2asrv/push"
)

type obedient struct{}

func (obedient) Execute(ctx context.Context, call *a2asrv.RequestContext, queue eventqueue.Queue) error {
	word, rest, _ := strings.Cut(textOf(call.Message), " ")
	if word == "say" {
		message := a2a.NewMessage(a2a.MessageRoleAgent, a2a.TextPart{Text: rest})
		message.ContextID = call.ContextID
		return queue.Write(ctx, message)
	}
	var events []a2a.Event
	if call.StoredTask == nil {
		events = append(events, a2a.NewSubmittedTask(call, call.Message))
	}
	events = append(events, status(call, a2a.TaskStateWorking, ""))
	if err := write(ctx, queue, events...); err != nil {
		return err
	}
	switch word {
	case "ask":
		return write(ctx, queue, status(call, a2a.TaskStateInputRequired, "what?"))
	case "fail":
		return write(ctx, queue, status(call, a2a.TaskStateFailed, "as told"))
	case "throw":
		return errors.New("broken as told")
	case "slow":
		return tellUntilCanceled(ctx, call, queue)
	}
	artifacts, err := work(ctx, call, word, rest)
	if err != nil {
		return err
	}
	return write(ctx, queue, append(artifacts, status(call, a2a.TaskStateCompleted, ""))...)
}

func (obedient) Cancel(ctx context.Context, call *a2asrv.RequestContext, queue eventqueue.Queue) error {
	return write(ctx, queue, status(call, a2a.TaskStateCanceled, ""))
}

func tellUntilCanceled(ctx context.Context, call *a2asrv.RequestContext, queue eventqueue.Queue) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := queue.Write(ctx, status(call, a2a.TaskStateWorking, "")); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// What a task brings that comes to its end.
func work(ctx context.Context, call *a2asrv.RequestContext, word, rest string) ([]a2a.Event, error) {
	switch word {
	case "quiet":
		milliseconds, err := strconv.Atoi(rest)
		if err != nil {
			return nil, err
		}
		select {
		case <-time.After(time.Duration(milliseconds) * time.Millisecond):
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case "stream":
		var chunks []a2a.Event
		for _, text := range []string{"one", "two", "three"} {
			chunk := a2a.NewArtifactUpdateEvent(call, "chunks", a2a.TextPart{Text: text})
			chunk.Append = text != "one"
			chunk.LastChunk = text == "three"
			chunks = append(chunks, chunk)
		}
		return chunks, nil
	case "parts":
		five := base64.StdEncoding.EncodeToString([]byte{0, 250, 255, 62, 63})
		return []a2a.Event{artifact(call, "parts",
			a2a.TextPart{Text: "grüß ☃"},
			a2a.DataPart{Data: map[string]any{"n": 1.5, "list": []any{true, nil}, "deep": map[string]any{"text": "x"}}},
			a2a.FilePart{File: a2a.FileBytes{FileMeta: a2a.FileMeta{MimeType: "application/octet-stream", Name: "five.bin"}, Bytes: five}},
			a2a.FilePart{File: a2a.FileURI{FileMeta: a2a.FileMeta{MimeType: "text/plain"}, URI: "https://agent.example/file"}},
		)}, nil
	default:
		return []a2a.Event{artifact(call, "echo", a2a.TextPart{Text: rest})}, nil
	}
}

func write(ctx context.Context, queue eventqueue.Queue, events ...a2a.Event) error {
	for _, event := range events {
		if err := queue.Write(ctx, event); err != nil {
			return err
		}
	}
	return nil
}

func status(call *a2asrv.RequestContext, state a2a.TaskState, text string) *a2a.TaskStatusUpdateEvent {
	var message *a2a.Message
	if text != "" {
		message = a2a.NewMessageForTask(a2a.MessageRoleAgent, call, a2a.TextPart{Text: text})
	}
	event := a2a.NewStatusUpdateEvent(call, state, message)
	event.Final = state.Terminal() || state == a2a.TaskStateInputRequired
	return event
}

func artifact(call *a2asrv.RequestContext, id a2a.ArtifactID, parts ...a2a.Part) *a2a.TaskArtifactUpdateEvent {
	event := a2a.NewArtifactEvent(call, parts...)
	event.Artifact.ID = id
	return event
}

func textOf(message *a2a.Message) string {
	for _, part := range message.Parts {
		if text, ok := part.(a2a.TextPart); ok {
			return text.Text
		}
	}
	return ""
}

func card(url string) *a2a.AgentCard {
	return &a2a.AgentCard{
		Name:               "Obedient",
		Description:        "Does what the first word of a message says.",
		Version:            "1.0.0",
		URL:                url,
		PreferredTransport: a2a.TransportProtocolJSONRPC,
		ProtocolVersion:    "0.3.0",
		Capabilities:       a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []a2a.AgentSkill{{ID: "obey", Name: "Obey", Description: "Does as told.", Tags: []string{"test"}}},
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	url := fmt.Sprintf("http://%s/", listener.Addr())
	handler := a2asrv.NewHandler(
		obedient{},
		a2asrv.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)),
	)
	mux := http.NewServeMux()
	mux.Handle("/", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card(url)))
	fmt.Printf("listening %s\n", url)
	panic(http.Serve(listener, mux))
}
