//! A small job with the Rust client that openapi-generator made. usage: job URL TOKEN FOLDER_WITH_WEBHOOKS
use openapi::apis::{assistants_api, campaigns_api, catalog_api, configuration::Configuration, leads_api, Error};
use openapi::models::{AssistantChanges, AssistantInput, CallsDirection, CampaignInput, EngineType, LeadInput};
use openapi::models::{TruncatedCall, WebhookCall};
use serde_json::{json, Value};
use std::collections::{HashMap, HashSet};

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().collect();
    let mut client = Configuration::new();
    client.base_path = args[1].clone();
    client.bearer_access_token = Some(args[2].clone());

    let mut campaigns = HashSet::new();
    let mut campaign = 0;
    for n in 0..3 {
        let input = CampaignInput::new(format!("Spring {n}"));
        campaign = campaigns_api::create_campaign(&client, input, None, None).await?.data.id;
        campaigns.insert(campaign);
    }

    // A lead has variables of any name, beside those that every lead has.
    let mut input = LeadInput::new("+15551230100".to_owned(), campaign);
    input.variables = Some(variables(&[("plan", json!("yearly")), ("visits", json!(2))]));
    let key = format!("job-{campaign}");
    let lead = leads_api::create_lead(&client, input, Some(&key), None).await?.data;
    assert_eq!((&lead.variables["plan"], &lead.variables["visits"]), (&json!("yearly"), &json!(2)));

    // Lists go from page to page until there is no next one.
    let (mut pages, mut after) = (0, Some(String::new()));
    while let Some(from) = after {
        let page = catalog_api::list_campaigns(&client, None, Some(1), Some(&from), None, None).await?;
        page.data.iter().for_each(|listed| { campaigns.remove(&listed.id); });
        pages += 1;
        after = page.meta.next;
    }
    assert!(campaigns.is_empty(), "campaigns that no page has: {:?}", campaigns);

    let assistant = update_one(&client).await?;
    let errors = refused_lead(&client).await;
    read_webhooks(&args[3])?;
    println!("{pages} pages; assistant {assistant} lead {} errors {errors:?}", lead.id);
    Ok(())
}

/// What is not sent stays as it is.
async fn update_one(client: &Configuration) -> Result<i64, Failure> {
    let mut input = AssistantInput::new("Renewals".to_owned(), 1, "English".to_owned(), "gpt-4o".to_owned(),
        CallsDirection::Make, EngineType::Pipeline, "Europe/Amsterdam".to_owned(), "Hello".to_owned(), "Be brief.".to_owned());
    input.variables = Some(variables(&[("product", json!("Plan B")), ("seats", json!(3))]));
    let id = assistants_api::create_assistant(client, input, None, None).await?.data.id;
    let before = assistants_api::get_assistant(client, id, None, None, None).await?.data.settings;
    let changes = AssistantChanges { assistant_name: Some("Renewals 2".to_owned()), ..AssistantChanges::new() };
    assistants_api::update_assistant(client, id, changes, None, None, None).await?;
    let after = assistants_api::get_assistant(client, id, None, None, None).await?.data.settings;
    assert_eq!(after.assistant_name, "Renewals 2");
    assert_eq!(after.variables, variables(&[("product", json!("Plan B")), ("seats", json!(3))]));
    assert!(!after.post_call_schema.is_empty() && after.post_call_schema == before.post_call_schema);
    Ok(id)
}

/// A refusal names every field.
async fn refused_lead(client: &Configuration) -> HashMap<String, Vec<String>> {
    let input = LeadInput::new("+15551230100".to_owned(), 9007199254740991);
    match leads_api::create_lead(client, input, None, None).await {
        Err(Error::ResponseError(refused)) => {
            assert_eq!(refused.status.as_u16(), 422);
            let error: openapi::models::Error = serde_json::from_str(&refused.content).expect("an Error");
            error.errors.filter(|errors| errors.contains_key("campaign_id")).expect("errors that name campaign_id")
        }
        other => panic!("a campaign that is not there: {:?}", other),
    }
}

/// Webhooks whose signature was verified, with a field of a later release.
fn read_webhooks(folder: &str) -> Result<(), Failure> {
    for name in ["webhook.json", "truncated.json"] {
        let payload: Value = serde_json::from_str(&std::fs::read_to_string(format!("{folder}/{name}"))?)?;
        if payload["data"]["truncated"] == json!(true) {
            println!("TruncatedCall {}", serde_json::from_value::<TruncatedCall>(payload["data"].clone())?.call_id);
        } else {
            println!("WebhookCall {}", serde_json::from_value::<WebhookCall>(payload["data"].clone())?.call_id);
        }
    }
    Ok(())
}

fn variables(given: &[(&str, Value)]) -> HashMap<String, Value> {
    given.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
}
