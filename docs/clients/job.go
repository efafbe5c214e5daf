// A small job with the Go client that openapi-generator made. usage: job URL TOKEN FOLDER_WITH_WEBHOOKS
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"reflect"

	openapi "github.com/acme/client"
)

func main() {
	url, token, folder := os.Args[1], os.Args[2], os.Args[3]
	configuration := openapi.NewConfiguration()
	configuration.Servers = openapi.ServerConfigurations{{URL: url}}
	client := openapi.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), openapi.ContextAccessToken, token)

	campaigns := map[int64]bool{}
	var campaign int64
	for n := 0; n < 3; n++ {
		input := *openapi.NewCampaignInput(fmt.Sprintf("Spring %d", n))
		made, _, err := client.CampaignsAPI.CreateCampaign(ctx).CampaignInput(input).Execute()
		must(err)
		campaign = made.Data.Id
		campaigns[campaign] = true
	}

	// A lead has variables of any name, beside those that every lead has.
	input := *openapi.NewLeadInput("+15551230100", campaign)
	input.Variables = map[string]interface{}{"plan": "yearly", "visits": 2}
	lead, _, err := client.LeadsAPI.CreateLead(ctx).LeadInput(input).IdempotencyKey(fmt.Sprintf("job-%d", campaign)).Execute()
	must(err)
	check(lead.Data.Variables["plan"] == "yearly" && lead.Data.Variables["visits"] == 2.0, "variables", lead.Data.Variables)

	// Lists go from page to page until there is no next one.
	pages, after := 0, ""
	for more := true; more; pages++ {
		page, _, err := client.CatalogAPI.ListCampaigns(ctx).PerPage(1).After(after).Execute()
		must(err)
		for _, listed := range page.Data {
			delete(campaigns, listed.Id)
		}
		next, _ := page.Meta.GetNextOk()
		if more = next != nil; more {
			after = *next
		}
	}
	check(len(campaigns) == 0, "campaigns that no page has", campaigns)

	assistant := updateOne(ctx, client)
	refused := refusedLead(ctx, client)
	readWebhooks(folder)
	fmt.Println(pages, "pages; assistant", assistant, "lead", lead.Data.Id, "errors", refused)
}

// What is not sent stays as it is.
func updateOne(ctx context.Context, client *openapi.APIClient) int64 {
	input := *openapi.NewAssistantInput("Renewals", 1, "English", "gpt-4o", openapi.CALLSDIRECTION_MAKE,
		openapi.ENGINETYPE_PIPELINE, "Europe/Amsterdam", "Hello", "Be brief.")
	input.Variables = map[string]interface{}{"product": "Plan B", "seats": 3}
	made, _, err := client.AssistantsAPI.CreateAssistant(ctx).AssistantInput(input).Execute()
	must(err)
	id := made.Data.Id
	before, _, err := client.AssistantsAPI.GetAssistant(ctx, id).Execute()
	must(err)
	changes := openapi.AssistantChanges{AssistantName: openapi.PtrString("Renewals 2")}
	_, _, err = client.AssistantsAPI.UpdateAssistant(ctx, id).AssistantChanges(changes).Execute()
	must(err)
	after, _, err := client.AssistantsAPI.GetAssistant(ctx, id).Execute()
	must(err)
	was, is := before.Data.Settings, after.Data.Settings
	check(is.AssistantName == "Renewals 2", "name", is.AssistantName)
	check(is.Variables["product"] == "Plan B" && reflect.DeepEqual(is.Variables, was.Variables), "variables", is.Variables)
	check(len(is.PostCallSchema) > 0 && reflect.DeepEqual(is.PostCallSchema, was.PostCallSchema), "schema", is.PostCallSchema)
	return id
}

// A refusal names every field.
func refusedLead(ctx context.Context, client *openapi.APIClient) map[string][]string {
	input := *openapi.NewLeadInput("+15551230100", 9007199254740991)
	_, answer, err := client.LeadsAPI.CreateLead(ctx).LeadInput(input).Execute()
	check(answer != nil && answer.StatusCode == 422, "status", answer)
	var refused *openapi.GenericOpenAPIError
	check(errors.As(err, &refused), "error", err)
	model, isError := refused.Model().(openapi.Error)
	check(isError && len(model.GetErrors()["campaign_id"]) == 1, "errors", refused.Model())
	return model.GetErrors()
}

// Webhooks whose signature was verified, with a field of a later release. WebhookPayload is strict in Go and refuses
// that, so the data are read as what they are.
func readWebhooks(folder string) {
	for _, name := range []string{"webhook.json", "truncated.json"} {
		body, err := os.ReadFile(filepath.Join(folder, name))
		must(err)
		var payload struct{ Data json.RawMessage }
		must(json.Unmarshal(body, &payload))
		var cut struct{ Truncated bool }
		must(json.Unmarshal(payload.Data, &cut))
		if cut.Truncated {
			var call openapi.TruncatedCall
			must(json.Unmarshal(payload.Data, &call))
			fmt.Println("TruncatedCall", call.CallId)
		} else {
			var call openapi.WebhookCall
			must(json.Unmarshal(payload.Data, &call))
			fmt.Println("WebhookCall", call.CallId)
		}
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func check(holds bool, what string, value interface{}) {
	if !holds {
		log.Fatal(what, ": ", value)
	}
}
