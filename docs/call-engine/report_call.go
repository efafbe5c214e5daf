// Reports by event that a call has ended. The same report twice is one report.
// go get github.com/EventStore/EventStore-Client-Go/v4 github.com/google/uuid
// EVENTSTORE_URL=... go run report_call.go report.json
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
)

// Any UUID will do; choose one for your engine and never change it.
var namespace = uuid.MustParse("6f1d4f0a-3c5e-4b7e-9a52-0d8f6c1b7e21")

// False when another report of this call is in the log: that one stands. Any error may be tried again.
func reportCall(client *esdb.Client, callID string, report []byte) (bool, error) {
	metadata, err := json.Marshal(map[string]string{"$correlationId": callID})
	if err != nil {
		return false, err
	}
	event := esdb.EventData{
		EventID:     uuid.NewSHA1(namespace, []byte(callID)),
		EventType:   "CallCompleted",
		ContentType: esdb.ContentTypeJson,
		Data:        report,
		Metadata:    metadata,
	}
	options := esdb.AppendToStreamOptions{ExpectedRevision: esdb.NoStream{}}
	_, err = client.AppendToStream(context.Background(), "call-"+callID, options, event)
	if failure, ok := esdb.FromError(err); !ok && failure.Code() == esdb.ErrorCodeWrongExpectedVersion {
		return false, nil
	}
	return err == nil, err
}

func main() {
	report, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var call struct {
		ID string `json:"call_id"`
	}
	if err := json.Unmarshal(report, &call); err != nil {
		log.Fatal(err)
	}
	settings, err := esdb.ParseConnectionString(os.Getenv("EVENTSTORE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	client, err := esdb.NewClient(settings)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fits, err := reportCall(client, call.ID, report)
	if err != nil {
		log.Fatal(err)
	}
	if fits {
		fmt.Println("reported")
	} else {
		fmt.Println("reported before, with another body")
	}
}
