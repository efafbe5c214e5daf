"""A small job with the Python client that openapi-generator made. usage: job.py URL TOKEN FOLDER_WITH_WEBHOOKS"""
import json
import sys

from openapi_client import ApiClient, ApiException, AssistantsApi, CampaignsApi, CatalogApi, Configuration, LeadsApi
from openapi_client.models import (AssistantChanges, AssistantInput, CampaignInput, CallsDirection, EngineType, Error,
                                   LeadInput, WebhookPayload)

url, token, folder = sys.argv[1:]
client = ApiClient(Configuration(host=url, access_token=token))
campaigns, assistants, leads = CampaignsApi(client), AssistantsApi(client), LeadsApi(client)

ids = [campaigns.create_campaign(CampaignInput(name=f"Spring {n}")).data.id for n in range(3)]
assistant = assistants.create_assistant(AssistantInput(
    assistant_name="Renewals", voice_id=1, language="English", llm_model="gpt-4o", calls_direction=CallsDirection.MAKE,
    engine_type=EngineType.PIPELINE, timezone="Europe/Amsterdam", initial_message="Hello", system_prompt="Be brief.",
    variables={"product": "Plan B", "seats": 3}), idempotency_key=f"job-{ids[0]}").data

# A lead has variables of any name, beside those that every lead has.
lead = leads.create_lead(LeadInput(phone_number="+15551230100", campaign_id=ids[0],
                                   variables={"plan": "yearly", "visits": 2})).data
assert lead.variables["plan"] == "yearly" and lead.variables["visits"] == 2, lead.variables

# Lists go from page to page until there is no next one.
listed, after = [], ""
while after is not None:
    page = CatalogApi(client).list_campaigns(per_page=1, after=after)
    listed += [campaign.id for campaign in page.data]
    after = page.meta.next
assert set(ids) <= set(listed), listed

# What is not sent stays as it is.
before = assistants.get_assistant(assistant.id).data.settings
assistants.update_assistant(assistant.id, AssistantChanges(assistant_name="Renewals 2"))
changed = assistants.get_assistant(assistant.id).data.settings
assert changed.assistant_name == "Renewals 2"
assert changed.variables == before.variables == {"product": "Plan B", "seats": 3}, changed.variables
assert changed.post_call_schema == before.post_call_schema and len(changed.post_call_schema) > 0

# A refusal names every field.
try:
    leads.create_lead(LeadInput(phone_number="+15551230100", campaign_id=9007199254740991))
    raise AssertionError("a campaign that is not there was taken")
except ApiException as refused:
    assert refused.status == 422, refused.status
    error = Error.from_json(refused.body)
    assert "campaign_id" in error.errors, error

# A webhook whose signature was verified, with a field of a later release, and one that was too large to be whole.
for name in ["webhook.json", "truncated.json"]:
    with open(f"{folder}/{name}", encoding="utf-8") as body:
        payload = WebhookPayload.from_json(body.read())
    print(type(payload.data.actual_instance).__name__, payload.data.actual_instance.call_id)
print(json.dumps({"pages": len(listed), "assistant": assistant.id, "lead": lead.id, "errors": error.errors}))
