// A small job with the Java client that openapi-generator made. usage: Job URL TOKEN FOLDER_WITH_WEBHOOKS
import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AssistantsApi;
import org.openapitools.client.api.CampaignsApi;
import org.openapitools.client.api.CatalogApi;
import org.openapitools.client.api.LeadsApi;
import org.openapitools.client.model.*;

public class Job {
    public static void main(String[] args) throws Exception {
        ApiClient client = new ApiClient(HttpClient.newBuilder(), new ApiClient().getObjectMapper(), args[0]);
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + args[1]));

        Set<Long> campaigns = new HashSet<>();
        for (int n = 0; n < 3; n++) {
            CampaignInput input = new CampaignInput().name("Spring " + n);
            campaigns.add(new CampaignsApi(client).createCampaign(input, null, null).getData().getId());
        }
        long campaign = campaigns.iterator().next();

        // A lead has variables of any name, beside those that every lead has.
        LeadInput input = new LeadInput().phoneNumber("+15551230100").campaignId(campaign)
            .variables(Map.of("plan", "yearly", "visits", 2));
        Lead lead = new LeadsApi(client).createLead(input, "job-" + campaign, null).getData();
        check("yearly".equals(lead.getVariables().get("plan")), "variables", lead.getVariables());
        check(Integer.valueOf(2).equals(lead.getVariables().get("visits")), "variables", lead.getVariables());

        // Lists go from page to page until there is no next one.
        int pages = 0;
        for (String after = ""; after != null; pages++) {
            CampaignItemPage page = new CatalogApi(client).listCampaigns(null, null, null, 1L, after, null, null);
            page.getData().forEach(listed -> campaigns.remove(listed.getId()));
            after = page.getMeta().getNext();
        }
        check(campaigns.isEmpty(), "campaigns that no page has", campaigns);

        long assistant = updateOne(new AssistantsApi(client));
        Map<String, List<String>> errors = refusedLead(client);
        readWebhooks(client, Path.of(args[2]));
        System.out.printf("%d pages; assistant %d lead %d errors %s%n", pages, assistant, lead.getId(), errors);
    }

    // What is not sent stays as it is.
    private static long updateOne(AssistantsApi assistants) throws ApiException {
        AssistantInput input = new AssistantInput().assistantName("Renewals").voiceId(1L).language("English")
            .llmModel("gpt-4o").callsDirection(CallsDirection.MAKE).engineType(EngineType.PIPELINE)
            .timezone("Europe/Amsterdam").initialMessage("Hello").systemPrompt("Be brief.")
            .variables(Map.of("product", "Plan B", "seats", 3));
        long id = assistants.createAssistant(input, null, null).getData().getId();
        AssistantSettings before = assistants.getAssistant(id, null, null, null, null).getData().getSettings();
        assistants.updateAssistant(id, new AssistantChanges().assistantName("Renewals 2"), null, null, null);
        AssistantSettings after = assistants.getAssistant(id, null, null, null, null).getData().getSettings();
        check("Renewals 2".equals(after.getAssistantName()), "name", after.getAssistantName());
        check(Map.of("product", "Plan B", "seats", 3).equals(after.getVariables()), "variables", after.getVariables());
        check(!after.getPostCallSchema().isEmpty(), "schema", after.getPostCallSchema());
        check(after.getPostCallSchema().equals(before.getPostCallSchema()), "schema", after.getPostCallSchema());
        return id;
    }

    // A refusal names every field.
    private static Map<String, List<String>> refusedLead(ApiClient client) throws Exception {
        LeadInput input = new LeadInput().phoneNumber("+15551230100").campaignId(9007199254740991L);
        try {
            new LeadsApi(client).createLead(input, null, null);
            throw new AssertionError("a campaign that is not there was taken");
        } catch (ApiException refused) {
            check(refused.getCode() == 422, "status", refused.getCode());
            var error = client.getObjectMapper().readValue(refused.getResponseBody(), org.openapitools.client.model.Error.class);
            check(error.getErrors().containsKey("campaign_id"), "errors", error);
            return error.getErrors();
        }
    }

    // Webhooks whose signature was verified, with a field of a later release. WebhookPayload finds in Java that a call
    // is both, so the data are read as what they are.
    private static void readWebhooks(ApiClient client, Path folder) throws Exception {
        for (String name : List.of("webhook.json", "truncated.json")) {
            JsonNode data = client.getObjectMapper().readTree(Files.readString(folder.resolve(name))).get("data");
            if (data.path("truncated").asBoolean()) {
                TruncatedCall call = client.getObjectMapper().treeToValue(data, TruncatedCall.class);
                System.out.println("TruncatedCall " + call.getCallId());
            } else {
                WebhookCall call = client.getObjectMapper().treeToValue(data, WebhookCall.class);
                System.out.println("WebhookCall " + call.getCallId());
            }
        }
    }

    private static void check(boolean holds, String what, Object value) {
        if (!holds) {
            throw new AssertionError(what + ": " + value);
        }
    }
}
