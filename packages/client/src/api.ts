// Made from the API document by `npm run docs:client`. Do not change it by hand.

export interface paths {
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask whether the process lives
         * @description Asks no back end. It has no limit and needs no token.
         */
        get: operations["isLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask whether the process is ready for requests
         * @description It has no limit and needs no token. A token of the role ops is told of each check.
         */
        get: operations["isReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistant": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an assistant
         * @description Optional fields that are left out get their defaults.
         */
        post: operations["createAssistant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistant/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an assistant
         * @description Its settings can be sent back by PUT as they are. With `revision` it is as it was then; the state of its webhook is then only whether it was on. A phone number that was released is null in either.
         */
        get: operations["getAssistant"];
        /**
         * Update an assistant
         * @description Only the given fields change; objects and arrays are replaced whole.
         */
        put: operations["updateAssistant"];
        post?: never;
        /**
         * Delete an assistant
         * @description It is not found any more. Calls of it that are reported later are recorded, and their webhooks sent as its settings said.
         */
        delete: operations["deleteAssistant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistant/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore the settings of a past revision
         * @description An update with what differs from them; its status stays. What is set anew is held to the rules of today. A phone number that you released is a 422 on phone_number_id, unless `without_phone_number` is true.
         */
        post: operations["restoreAssistant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/campaign": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a campaign */
        post: operations["createCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/campaign/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a campaign */
        get: operations["getCampaign"];
        /**
         * Rename a campaign
         * @description A later import of the catalogue leaves the name, unless it brings another one than the import before it.
         */
        put: operations["updateCampaign"];
        post?: never;
        /**
         * Delete a campaign
         * @description It takes no lead any more. Those that it has stay, and name it. No import of the catalogue brings it back.
         */
        delete: operations["deleteCampaign"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/phone-number": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a phone number
         * @description A number is one user’s at a time. One that was released may be added again, by anybody.
         */
        post: operations["addPhoneNumber"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/phone-number/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Release a phone number
         * @description Anybody may add it then. Assistants that were set to it answer phone_number_id null.
         */
        delete: operations["releasePhoneNumber"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/lead": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a lead
         * @description A phone number is a lead of a campaign once, unless allow_dupplicate is true. One on your do-not-call list is refused.
         */
        post: operations["createLead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/lead/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a lead
         * @description The same object as the answer to its creation. By the id of a secondary contact it is its lead, with `contact_id`.
         */
        get: operations["getLead"];
        /**
         * Update a lead
         * @description Only the given fields change. variables and secondary_contacts are replaced whole: a secondary contact with its id is kept, one without is new, and one that is left out is gone. Who has a phone number on your do-not-call list stays blacklisted.
         */
        put: operations["updateLead"];
        post?: never;
        /**
         * Delete a lead
         * @description With its secondary contacts. Its phone number may be created again in the campaign.
         */
        delete: operations["deleteLead"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/leads/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import leads
         * @description In the background: a row that is wrong, or a phone number that is a lead of the campaign already, stops no other one. At most 1,000 leads and 2 MiB in JSON, 100,000 rows and 64 MiB in CSV, which arrives within a minute and begins with a header line: `phone_number`, `customer_name`, `email`, in any case and with any blanks, and every other column is a variable. Commas, semicolons or tabs are between cells; UTF-8 and UTF-16 are taken, and so is what `GET /user/leads/export` answers. Rows without anything in them are passed over. At most 5 of your imports are under way. What became of the rows is kept for 30 days.
         */
        post: operations["importLeads"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/api-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make an API key
         * @description The key is shown in this answer and kept nowhere: sent as `Authorization: Bearer rl_…` it acts for you, within its scopes. With an Idempotency-Key the same request gets the same answer, and so the key, for 24 hours: so long it is kept encrypted for that. This needs a token, not a key.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/api-key/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description It is refused for good, within a second. This needs a token, not a key.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/blacklist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the phone numbers that you do not want called
         * @description Newest first.
         */
        get: operations["listBlacklist"];
        put?: never;
        /**
         * Put a phone number on your do-not-call list
         * @description No lead or secondary contact may be created with it, and those that you have answer the status blacklisted until the entry is deleted.
         */
        post: operations["blacklistPhoneNumber"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/blacklist/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Take a phone number off your do-not-call list
         * @description Leads and secondary contacts with the number have the status again that they had, or that calls reported meanwhile gave them.
         */
        delete: operations["deleteBlacklistEntry"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/person/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for a copy of what is known of a person
         * @description Writes one JSON document with all that you have about this phone number. One of your own phone numbers is no person. This needs a token, not a key.
         */
        post: operations["exportPerson"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/person/erase": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase a person
         * @description All of yours with this phone number, for good: leads and contacts are gone, calls keep what is not personal, webhooks their outcome. A do-not-call entry holds, without the number. One of your own phone numbers is no person. This needs a token, not a key.
         */
        post: operations["erasePerson"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/engine/calls/{call_id}/completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a completed call
         * @description The same report again is accepted again; another report for the same call is refused.
         */
        post: operations["completeCall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/webhook-deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a webhook again
         * @description One more attempt, at once, with the same webhook-id and body, to the webhook_url that the assistant has now; also while its webhook is off or suspended, and whatever became of the delivery. A success makes it delivered, a failure changes nothing: the schedule goes on. At most 10 a minute for each assistant.
         */
        post: operations["redeliverWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/webhook-deliveries/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send many webhooks again
         * @description By their ids, or of an assistant since a time: begins their schedule anew, the oldest first and a few at a time. Those that are delivered, under way, no longer kept or not yours are passed over.
         */
        post: operations["redeliverWebhooks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistant/{id}/webhook-test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test webhook
         * @description One request of the type `webhook.test` to the webhook_url of the assistant, signed like any other, with every field of a call and sample values, also for the names of post_call_schema; also while the webhook is off. It is not repeated when it fails. A success resumes a suspended webhook. At most 10 a minute for each assistant.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistant/{id}/webhook-resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a suspended webhook
         * @description Resumes the webhook of the assistant, and sends what was held for it.
         */
        post: operations["resumeWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/webhook-secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the secret that signs your webhooks
         * @description The former secret signs beside the new one for 24 hours, or as many as overlap_hours says, so that receivers can be changed one after the other. Rotated again within that time, each former secret still signs until its own time is over; more than two of them are refused. Assistants with a secret of their own keep it.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistant/{id}/webhook-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The secret that signs the webhooks of an assistant
         * @description Receivers of its webhooks verify by it.
         */
        get: operations["getAssistantWebhookSecret"];
        put?: never;
        /**
         * Give an assistant a webhook secret of its own, or change it
         * @description The first call makes it: from then on it signs the webhooks of this assistant, and for 24 hours, or as many as overlap_hours says, your own secret signs beside it. Each further call changes it: the former one signs beside the new one for that time.
         */
        post: operations["rotateAssistantWebhookSecret"];
        /**
         * Go back to your own webhook secret
         * @description Your own secret signs the webhooks of this assistant again; that of the assistant, if it had one, signs beside it for 24 hours.
         */
        delete: operations["deleteAssistantWebhookSecret"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistant/{id}/webhook-recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send again what failed or was skipped
         * @description Begins the schedule of these deliveries of the assistant anew, the oldest first and a few at a time, so that webhooks of now need not wait behind them. They go to the webhook_url that the assistant has by then. A call of a time when the webhook was off gets its body now, with what is known by now; one that is not completed only when send_webhook_only_on_completed is false. What is no longer kept is passed over.
         */
        post: operations["recoverWebhooks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistant/{id}/webhook-options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The options of an assistant's webhook
         * @description Headers of your own, and how many attempts may start in a second.
         */
        get: operations["getWebhookOptions"];
        /**
         * Change the options of an assistant's webhook
         * @description What is absent stays as it is. Headers are kept encrypted, go to the webhook_url of each attempt, and are not signed.
         */
        put: operations["updateWebhookOptions"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your assistants
         * @description Newest first.
         */
        get: operations["listAssistants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistant/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the history of an assistant
         * @description What changed when, from what to what, newest first. Who changed it is nobody but its owner.
         */
        get: operations["getAssistantHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/leads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your leads
         * @description Newest first, each with its secondary contacts.
         */
        get: operations["listLeads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/leads/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export your leads
         * @description All that fit the filters, by id, as they were at one instant. In CSV further variables and secondary contacts are JSON in a column each, and what a spreadsheet would take for a formula begins with an apostrophe. `POST /user/leads/import` makes the same leads of it.
         */
        get: operations["exportLeads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/lead-import/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an import
         * @description How far it is. It is kept for 30 days after its end.
         */
        get: operations["getLeadImport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/lead-imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your imports
         * @description The newest first. An import is kept for 30 days after its end.
         */
        get: operations["listLeadImports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/lead-import/{id}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what became of the rows of an import
         * @description In their order, as far as they are done. With `Accept: text/csv` all of them are streamed as CSV.
         */
        get: operations["listLeadImportResults"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the calls of your assistants
         * @description Those that ended last first.
         */
        get: operations["listCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/call/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a call
         * @description Everything that a webhook says of it, for when one was missed, and what became of its webhook.
         */
        get: operations["getCall"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/calls/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the calls of your assistants
         * @description All that fit the filters, by id, as they were at one instant; what each call was about is asked for by its id. In CSV, what a spreadsheet would take for a formula begins with an apostrophe.
         */
        get: operations["exportCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/day": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See your last day by the hour
         * @description Calls in the hour that they ended in, and webhooks in the hour that they were made in.
         */
        get: operations["getDay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistants/voices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the voices
         * @description By name; every user may choose from them.
         */
        get: operations["listVoices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistants/languages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the languages
         * @description By name; every user may choose from them.
         */
        get: operations["listLanguages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/assistants/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the LLM models
         * @description By name; an assistant may use others as well.
         */
        get: operations["listModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your campaigns
         * @description Newest first.
         */
        get: operations["listCampaigns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/phone-numbers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your phone numbers
         * @description Newest first.
         */
        get: operations["listPhoneNumbers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your API keys
         * @description Newest first, without those that were revoked. This needs a token, not a key.
         */
        get: operations["listApiKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/engine/blacklist/{phone_number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask whether a phone number may be called
         * @description Before each call: whether the user of the assistant has it on their do-not-call list, as of now.
         */
        get: operations["isBlacklisted"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/person-request/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What became of a request for the data of a person
         * @description As the log has it, without an X-Read-Position. This needs a token, not a key.
         */
        get: operations["getPersonRequest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/person-request/{id}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The copy of what is known of a person
         * @description For 24 hours after the request was completed. This needs a token, not a key.
         */
        get: operations["downloadPerson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who you are to this service */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/webhook-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The secret that signs your webhooks
         * @description Those of all your assistants but such as have a secret of their own. Receivers verify by it.
         */
        get: operations["getWebhookSecret"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/webhook-deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your webhook deliveries
         * @description Newest first, without their attempts. One for each call of your assistants, also for those that are not sent, and one for each test.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/webhook-deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook delivery
         * @description With its newest 50 attempts, oldest first, those that wait for their turn included, and the request of the newest one that was made.
         */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/user/webhook-notices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what went wrong with your webhooks
         * @description Newest first: an endpoint that began to fail, works again or was suspended, and each delivery that was given up. Kept for 90 days.
         */
        get: operations["listWebhookNotices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/projections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the projections
         * @description With their generations, how far they are behind the log, and what can be done to each now. The dispatcher is last.
         */
        get: operations["listProjections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/projections/{name}/{action}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay, verify, roll back, drop, pause or resume a projection
         * @description A process of its own does it, and stops with the service. Asked again, a replay goes on where it stood.
         */
        post: operations["actOnProjection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/projections/{name}/close-breaker": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a stopped projection go on
         * @description For one that stands still because it refused too many streams within a minute. It parks what it refuses.
         */
        post: operations["closeBreaker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what was done to projections
         * @description The newest 50, newest first.
         */
        get: operations["listProjectionActions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/actions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See how an action gets on
         * @description Those of the last 90 days.
         */
        get: operations["getProjectionAction"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/parked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the streams with parked events
         * @description Streams of every generation and of the dispatcher, the longest parked first; 200 at most.
         */
        get: operations["listParked"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/parked/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Project the parked events of a stream
         * @description All of them, or none.
         */
        post: operations["retryParked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/parked/skip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give an event up for good
         * @description In rebuilds too. Its stream goes on without it.
         */
        post: operations["skipParked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhook deliveries of all users
         * @description Newest first, without their attempts. Filters look at the newest 50,000 of the days that are asked for; those by user, by call and by a final status look at all.
         */
        get: operations["listDeliveriesOfAll"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook delivery of any user
         * @description With its newest 50 attempts, oldest first, and the request of the newest one that was made.
         */
        get: operations["getDeliveryOfAll"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a webhook of any user again
         * @description One more attempt, at once, also while the webhook is off or suspended. The schedule goes on as it was.
         */
        post: operations["redeliverOfAll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhooks that fail, are suspended or pause
         * @description The longest first; 200 at most.
         */
        get: operations["listTroubledWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/webhooks/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a suspended or paused webhook of any user
         * @description What was held is sent.
         */
        post: operations["resumeWebhookOfAll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See what waits to be sent
         * @description The delivery log in numbers.
         */
        get: operations["getWebhookQueue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/day": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See the last day
         * @description Attempts by the hour and commands by ten minutes, of the last 24 hours. It is counted once a minute.
         */
        get: operations["getLastDay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/work": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what is done in the background
         * @description Imports, exports, erasures and recoveries that have not ended, the oldest first, and behind them those that failed within a day; 200 at most.
         */
        get: operations["listWork"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the settings
         * @description The process that answers shows its own settings, and no secret.
         */
        get: operations["listSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ops/api/checks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Run the checks of the doctor
         * @description On the back ends of the process that answers, at most once in ten seconds. A check takes three seconds at most.
         */
        get: operations["listChecks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "call.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A call has ended
         * @description Sent to the assistant's `webhook_url` after each call while `is_webhook_active` is true; only for completed calls
         *     with `send_webhook_only_on_completed`. Signed as [Standard Webhooks](https://www.standardwebhooks.com) describes,
         *     with the secret of `GET /user/webhook-secret`: verify `webhook-signature` over the raw body before you trust it.
         *
         *     Answer 2xx within 15 seconds. Anything else is tried again, 10 times over three days. A webhook can arrive more than
         *     once and late: `webhook-id` stays the same over all tries, so use it to recognise what you have seen.
         */
        post: operations["callCompleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A test of the webhook
         * @description Sent by `POST /user/assistant/{id}/webhook-test`, with the headers and the signature of every other webhook, so that
         *     a receiver can be tried before the first call. It has every field of a call, with sample values: answer 2xx, and do
         *     nothing else with it.
         */
        post: operations["webhookTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        Health: {
            /** @description `ok`. */
            status: string;
            /** @description For operators: what became of each check, `ok`, `failing` or a remark. */
            checks?: {
                [key: string]: string;
            };
        };
        Error: {
            /** @description What is wrong, for a person to read. */
            message: string;
            /** @description Every refused field with every reason; paths have dots. Beyond 500 fields, `body` says that there are more. */
            errors?: {
                [key: string]: string[];
            };
        };
        NotReady: {
            /** @description What is wrong, for a person to read. */
            message: string;
            /** @description `failing`, or `draining` of a process that is stopping. */
            status: string;
            /** @description For operators: what became of each check, `ok`, `failing` or a remark. */
            checks?: {
                [key: string]: string;
            };
        };
        /** @enum {string} */
        CallsDirection: "receive" | "make";
        /** @enum {string} */
        EngineType: "pipeline" | "multimodal";
        /** @enum {string} */
        EndpointType: "vad" | "ai";
        /** @enum {string} */
        PostCallType: "string" | "number" | "bool";
        PostCallFieldInput: {
            /** @description Key of the extracted value; unique in the schema. */
            name: string;
            /** @description Type of the extracted value. */
            type: components["schemas"]["PostCallType"];
            /** @description What the field represents. */
            description: string;
        };
        EndCallTool: {
            /** @description When the assistant should end the call. */
            description?: string;
        };
        /** @enum {string} */
        FirstSpeaker: "AI assistant" | "Customer";
        AssistantInput: {
            /** @description Name of the assistant. */
            assistant_name: string;
            /**
             * Format: int64
             * @description An available voice.
             */
            voice_id: number;
            /** @description Name of an available language. */
            language: string;
            /** @description Name of the LLM model. */
            llm_model: string;
            /** @description Whether the assistant takes calls or makes them. */
            calls_direction: components["schemas"]["CallsDirection"];
            /** @description Engine that runs the conversation. */
            engine_type: components["schemas"]["EngineType"];
            /** @description IANA time zone of the form Area/City. */
            timezone: string;
            /** @description What the assistant speaks when the call starts. */
            initial_message: string;
            /** @description Behaviour and personality of the assistant. */
            system_prompt: string;
            /**
             * Format: int64
             * @description A phone number of the user; null unassigns it. Default: null.
             */
            phone_number_id?: number | null;
            /** @description Voice activity detection. Default: vad. */
            endpoint_type?: components["schemas"]["EndpointType"];
            /**
             * Format: double
             * @description How quickly silence counts as the end of a turn. Default: 0.5.
             */
            endpoint_sensitivity?: number;
            /**
             * Format: double
             * @description How easily the caller interrupts. Default: 0.5.
             */
            interrupt_sensitivity?: number;
            /**
             * Format: double
             * @description Volume of the ambient sound. Default: 0.5.
             */
            ambient_sound_volume?: number;
            /** @description Evaluate the call after it ended. Default: true. */
            post_call_evaluation?: boolean;
            /** @description Send webhooks only for completed calls. Default: true. */
            send_webhook_only_on_completed?: boolean;
            /** @description Put the recording URL into the webhook payload. Default: true. */
            include_recording_in_webhook?: boolean;
            /** @description Webhook notifications on or off. Default: false. */
            is_webhook_active?: boolean;
            /** @description Absolute https URL; required when is_webhook_active is true; null removes it. Stored as it is called: without a fragment, the host in lower case. Default: null. */
            webhook_url?: string | null;
            /** @description Apply min_interrupt_words. Default: false. */
            use_min_interrupt_words?: boolean;
            /**
             * Format: int64
             * @description Words the caller must say to interrupt. Default: 0.
             */
            min_interrupt_words?: number;
            /** @description Custom variables. Default: {}. */
            variables?: {
                [key: string]: unknown;
            };
            /** @description Data to extract after the call; an explicit array replaces the default one. Default: [{"name":"status","type":"bool","description":"Whether the goal of the call was reached"},{"name":"summary","type":"string","description":"Summary of the call"}]. */
            post_call_schema?: components["schemas"]["PostCallFieldInput"][];
            /** @description Lets the assistant end the call by itself; null removes the tool. Default: null. */
            end_call_tool?: components["schemas"]["EndCallTool"] | null;
            /**
             * Format: double
             * @description Randomness of the model. Default: 0.1.
             */
            llm_temperature?: number;
            /**
             * Format: double
             * @description Stability of the voice. Default: 0.7.
             */
            voice_stability?: number;
            /**
             * Format: double
             * @description Similarity to the original voice. Default: 0.5.
             */
            voice_similarity?: number;
            /**
             * Format: double
             * @description Multiplier of the speaking speed. Default: 1.
             */
            speech_speed?: number;
            /** @description The caller may interrupt. Default: true. */
            allow_interruptions?: boolean;
            /** @description Play filler audio while processing. Default: false. */
            filler_audios?: boolean;
            /**
             * Format: int64
             * @description Seconds of silence before the assistant speaks again. Default: 30.
             */
            re_engagement_interval?: number;
            /**
             * Format: int64
             * @description Longest call, in seconds. Default: 600.
             */
            max_call_duration?: number;
            /**
             * Format: int64
             * @description Longest silence, in seconds. Default: 40.
             */
            max_silence_duration?: number;
            /** @description End the call when voicemail is detected. Default: true. */
            end_call_on_voicemail?: boolean;
            /** @description Noise cancellation on or off. Default: true. */
            noise_cancellation?: boolean;
            /** @description Record the call. Default: false. */
            record_call?: boolean;
            /** @description Who opens the conversation. Default: AI assistant. */
            who_speaks_first?: components["schemas"]["FirstSpeaker"];
            /** @description Another spelling of end_call_tool: {description}. Where both are sent they must be the same. */
            "end_call_tool.description"?: string;
        };
        /** @enum {string} */
        AssistantStatus: "active" | "inactive";
        /** @enum {string} */
        AssistantType: "inbound" | "outbound";
        AssistantSummary: {
            /**
             * Format: int64
             * @description Unique identifier of the assistant.
             */
            id: number;
            /** @description Name of the assistant. */
            name: string;
            /** @description Current status. */
            status: components["schemas"]["AssistantStatus"];
            /** @description inbound for calls_direction receive, outbound for make. */
            type: components["schemas"]["AssistantType"];
            /** @description Engine mode. */
            mode: components["schemas"]["EngineType"];
        };
        AssistantAnswer: {
            message: string;
            data: components["schemas"]["AssistantSummary"];
        };
        /** @description What is not described here is as in AssistantInput. */
        AssistantChanges: {
            assistant_name?: string;
            /** Format: int64 */
            voice_id?: number;
            language?: string;
            llm_model?: string;
            calls_direction?: components["schemas"]["CallsDirection"];
            engine_type?: components["schemas"]["EngineType"];
            timezone?: string;
            initial_message?: string;
            system_prompt?: string;
            /** Format: int64 */
            phone_number_id?: number | null;
            endpoint_type?: components["schemas"]["EndpointType"];
            /** Format: double */
            endpoint_sensitivity?: number;
            /** Format: double */
            interrupt_sensitivity?: number;
            /** Format: double */
            ambient_sound_volume?: number;
            post_call_evaluation?: boolean;
            send_webhook_only_on_completed?: boolean;
            include_recording_in_webhook?: boolean;
            is_webhook_active?: boolean;
            webhook_url?: string | null;
            use_min_interrupt_words?: boolean;
            /** Format: int64 */
            min_interrupt_words?: number;
            variables?: {
                [key: string]: unknown;
            };
            post_call_schema?: components["schemas"]["PostCallFieldInput"][];
            end_call_tool?: components["schemas"]["EndCallTool"] | null;
            /** Format: double */
            llm_temperature?: number;
            /** Format: double */
            voice_stability?: number;
            /** Format: double */
            voice_similarity?: number;
            /** Format: double */
            speech_speed?: number;
            allow_interruptions?: boolean;
            filler_audios?: boolean;
            /** Format: int64 */
            re_engagement_interval?: number;
            /** Format: int64 */
            max_call_duration?: number;
            /** Format: int64 */
            max_silence_duration?: number;
            end_call_on_voicemail?: boolean;
            noise_cancellation?: boolean;
            record_call?: boolean;
            who_speaks_first?: components["schemas"]["FirstSpeaker"];
            "end_call_tool.description"?: string;
            /** @description Switches the assistant on or off. Its webhooks go on either way. */
            status?: components["schemas"]["AssistantStatus"];
        };
        Message: {
            /** @description What happened, for a person to read. */
            message: string;
        };
        PostCallField: {
            /** @description Key of the extracted value; unique in the schema. */
            name: string;
            /** @description Type of the extracted value. */
            type: components["schemas"]["PostCallType"];
            /** @description What the field represents. */
            description: string;
        };
        AssistantSettings: {
            assistant_name: string;
            /** Format: int64 */
            voice_id: number;
            language: string;
            llm_model: string;
            calls_direction: components["schemas"]["CallsDirection"];
            engine_type: components["schemas"]["EngineType"];
            timezone: string;
            initial_message: string;
            system_prompt: string;
            /** Format: int64 */
            phone_number_id: number | null;
            endpoint_type: components["schemas"]["EndpointType"];
            /** Format: double */
            endpoint_sensitivity: number;
            /** Format: double */
            interrupt_sensitivity: number;
            /** Format: double */
            ambient_sound_volume: number;
            post_call_evaluation: boolean;
            send_webhook_only_on_completed: boolean;
            include_recording_in_webhook: boolean;
            is_webhook_active: boolean;
            webhook_url: string | null;
            use_min_interrupt_words: boolean;
            /** Format: int64 */
            min_interrupt_words: number;
            variables: {
                [key: string]: unknown;
            };
            post_call_schema: components["schemas"]["PostCallField"][];
            end_call_tool: components["schemas"]["EndCallTool"] | null;
            /** Format: double */
            llm_temperature: number;
            /** Format: double */
            voice_stability: number;
            /** Format: double */
            voice_similarity: number;
            /** Format: double */
            speech_speed: number;
            allow_interruptions: boolean;
            filler_audios: boolean;
            /** Format: int64 */
            re_engagement_interval: number;
            /** Format: int64 */
            max_call_duration: number;
            /** Format: int64 */
            max_silence_duration: number;
            end_call_on_voicemail: boolean;
            noise_cancellation: boolean;
            record_call: boolean;
            who_speaks_first: components["schemas"]["FirstSpeaker"];
        };
        /** @enum {string} */
        WebhookState: "on" | "off" | "suspended" | "paused";
        AssistantWebhook: {
            /** @description suspended: the URL answered 410 or kept failing, and gets nothing until it is resumed. paused: it asked for fewer requests, and gets nothing until the time in `until`. */
            state: components["schemas"]["WebhookState"];
            /** @description Why it is suspended: gone (410) or failing; or paused: too_many_requests (429) or unavailable (503). */
            reason: string | null;
            /** @description When it was suspended. */
            since: string | null;
            /** @description When a pause ends. */
            until: string | null;
        };
        Assistant: {
            /**
             * Format: int64
             * @description Unique identifier of the assistant.
             */
            id: number;
            /** @description Name of the assistant. */
            name: string;
            /** @description Current status. */
            status: components["schemas"]["AssistantStatus"];
            /** @description inbound for calls_direction receive, outbound for make. */
            type: components["schemas"]["AssistantType"];
            /** @description Engine mode. */
            mode: components["schemas"]["EngineType"];
            settings: components["schemas"]["AssistantSettings"];
            /**
             * Format: int64
             * @description Also the ETag, or its beginning.
             */
            revision: number;
            /** @description ISO 8601, UTC. */
            created_at: string;
            /** @description ISO 8601, UTC. */
            updated_at: string;
            webhook: components["schemas"]["AssistantWebhook"];
        };
        OneAssistant: {
            data: components["schemas"]["Assistant"];
        };
        AssistantRestore: {
            /**
             * Format: int64
             * @description The revision whose settings come back, as the history tells it.
             */
            revision: number;
            /** @description They come back with phone_number_id null. Without it, one that is no longer yours is refused. */
            without_phone_number?: boolean;
        };
        CampaignInput: {
            /** @description Name of the campaign. */
            name: string;
        };
        Campaign: {
            /**
             * Format: int64
             * @description The campaign_id of a lead.
             */
            id: number;
            name: string;
            /** @description ISO 8601, UTC. */
            created_at: string;
            /** @description ISO 8601, UTC. */
            updated_at: string;
        };
        CampaignAnswer: {
            message: string;
            data: components["schemas"]["Campaign"];
        };
        OneCampaign: {
            data: components["schemas"]["Campaign"];
        };
        PhoneNumberInput: {
            /** @description Phone number in E.164 format, which nobody else has. */
            phone_number: string;
        };
        PhoneNumber: {
            /**
             * Format: int64
             * @description The phone_number_id of an assistant.
             */
            id: number;
            phone_number: string;
        };
        PhoneNumberAnswer: {
            message: string;
            data: components["schemas"]["PhoneNumber"];
        };
        SecondaryContactInput: {
            /** @description Phone number in E.164 format. */
            phone_number: string;
            /** @description Free-form variables for the conversation. The texts `customer_name` and `email` are of the person to call. */
            variables?: {
                [key: string]: unknown;
            };
        };
        LeadInput: {
            /** @description Phone number in E.164 format. */
            phone_number: string;
            /**
             * Format: int64
             * @description Campaign to create the lead for.
             */
            campaign_id: number;
            /** @description Free-form variables for the conversation. The texts `customer_name` and `email` are of the person to call. */
            variables?: {
                [key: string]: unknown;
            };
            /** @description Whether the campaign may hold this phone number more than once; 1,000 times is the most. Default: false. */
            allow_dupplicate?: boolean;
            /** @description Other people to call for this lead. No phone number may repeat that of the lead, or that of another of them. */
            secondary_contacts?: components["schemas"]["SecondaryContactInput"][];
        };
        /** @enum {string} */
        LeadStatus: "created" | "scheduled" | "processing" | "completed" | "rescheduled" | "reached-max-retries" | "blacklisted";
        LeadCampaign: {
            /** Format: int64 */
            id: number;
            name: string;
        };
        SecondaryContact: {
            /**
             * Format: int64
             * @description Unique identifier.
             */
            id: number;
            /** @description E.164 format. */
            phone_number: string;
            /** @description Holds customer_name and email, empty strings when they were not given. */
            variables: {
                [key: string]: unknown;
            };
            /** @description Status; created after creation. */
            status: components["schemas"]["LeadStatus"];
            /** @description UTC, YYYY-MM-DD HH:MM:SS. */
            created_at: string;
            /** @description UTC, YYYY-MM-DD HH:MM:SS. */
            updated_at: string;
        };
        Lead: {
            /**
             * Format: int64
             * @description Unique identifier.
             */
            id: number;
            /** @description E.164 format. */
            phone_number: string;
            /** @description Holds customer_name and email, empty strings when they were not given. */
            variables: {
                [key: string]: unknown;
            };
            /** @description Status; created after creation. */
            status: components["schemas"]["LeadStatus"];
            /** @description UTC, YYYY-MM-DD HH:MM:SS. */
            created_at: string;
            /** @description UTC, YYYY-MM-DD HH:MM:SS. */
            updated_at: string;
            /**
             * Format: int64
             * @description Campaign the lead belongs to.
             */
            campaign_id: number;
            campaign: components["schemas"]["LeadCampaign"];
            secondary_contacts: components["schemas"]["SecondaryContact"][];
        };
        LeadAnswer: {
            message: string;
            data: components["schemas"]["Lead"];
        };
        /** @enum {string} */
        SettableLeadStatus: "created" | "scheduled" | "completed" | "rescheduled" | "reached-max-retries" | "blacklisted";
        ChangedSecondaryContact: {
            /**
             * Format: int64
             * @description Id of a secondary contact that the lead keeps, with its variables if none are given. A contact without an id is a new one.
             */
            id?: number;
            /** @description Phone number in E.164 format. */
            phone_number: string;
            /** @description Free-form variables for the conversation. The texts `customer_name` and `email` are of the person to call. */
            variables?: {
                [key: string]: unknown;
            };
            /** @description Any but processing, which only reports of calls set. */
            status?: components["schemas"]["SettableLeadStatus"];
        };
        LeadChanges: {
            /** @description Must be that of the lead: it cannot be changed. */
            phone_number?: string;
            /**
             * Format: int64
             * @description Must be that of the lead: it cannot be changed.
             */
            campaign_id?: number;
            /** @description Free-form variables for the conversation. The texts `customer_name` and `email` are of the person to call. */
            variables?: {
                [key: string]: unknown;
            };
            /** @description Replace those that the lead has. A phone number of one that is kept cannot be changed. */
            secondary_contacts?: components["schemas"]["ChangedSecondaryContact"][];
            /** @description Any but processing, which only reports of calls set. */
            status?: components["schemas"]["SettableLeadStatus"];
        };
        /** @description What is not described here is as in Lead. */
        FoundLead: {
            /** Format: int64 */
            id: number;
            phone_number: string;
            variables: {
                [key: string]: unknown;
            };
            status: components["schemas"]["LeadStatus"];
            created_at: string;
            updated_at: string;
            /** Format: int64 */
            campaign_id: number;
            campaign: components["schemas"]["LeadCampaign"];
            secondary_contacts: components["schemas"]["SecondaryContact"][];
            /**
             * Format: int64
             * @description The secondary contact that was asked for; absent for a lead.
             */
            contact_id?: number;
        };
        OneFoundLead: {
            data: components["schemas"]["FoundLead"];
        };
        /** @enum {string} */
        DuplicateRule: "skip" | "allow";
        ImportedLead: {
            /** @description Phone number in E.164 format. */
            phone_number: string;
            /** @description Free-form variables for the conversation. The texts `customer_name` and `email` are of the person to call. */
            variables?: {
                [key: string]: unknown;
            };
            /** @description Other people to call for this lead. No phone number may repeat that of the lead, or that of another of them. */
            secondary_contacts?: components["schemas"]["SecondaryContactInput"][];
        };
        LeadImportInput: {
            /**
             * Format: int64
             * @description Campaign to create the leads for.
             */
            campaign_id: number;
            /** @description `skip`: a row whose phone number is a lead of the campaign already is passed over; `allow`: it becomes another. Default: skip. */
            if_duplicate?: components["schemas"]["DuplicateRule"];
            /** @description As for POST /user/lead. */
            leads: components["schemas"]["ImportedLead"][];
        };
        /** @enum {string} */
        LeadImportStatus: "processing" | "completed" | "failed";
        BegunLeadImport: {
            id: string;
            status: components["schemas"]["LeadImportStatus"];
        };
        StartedLeadImport: {
            message: string;
            data: components["schemas"]["BegunLeadImport"];
        };
        /** @enum {string} */
        Scope: "read" | "write" | "webhooks";
        ApiKeyInput: {
            /** @description What it is for. */
            name: string;
            /** @description `read` is every GET, `write` every other request; neither implies the other. The secrets that sign webhooks are read with `webhooks` or `write`. No key makes or ends keys, or asks for the data of persons. */
            scopes: components["schemas"]["Scope"][];
            /**
             * Format: date-time
             * @description From then on it is refused; null, or absent, for never.
             */
            expires_at?: string | null;
        };
        CreatedApiKey: {
            /** Format: int64 */
            id: number;
            name: string;
            /** @description The key, shown this once. */
            key: string;
            /** @description How the key begins, to tell one from another. */
            prefix: string;
            scopes: components["schemas"]["Scope"][];
            /** @description ISO 8601, UTC. From then on it is refused; null for never. */
            expires_at: string | null;
            /** @description ISO 8601, UTC. */
            created_at: string;
        };
        CreatedApiKeyAnswer: {
            message: string;
            data: components["schemas"]["CreatedApiKey"];
        };
        BlacklistEntryInput: {
            /** @description Phone number in E.164 format that must not be called. */
            phone_number: string;
            /** @description Why, in your words. */
            reason?: string;
        };
        BlacklistEntry: {
            /**
             * Format: int64
             * @description What the entry is deleted by.
             */
            id: number;
            /** @description Null when the person was erased; the entry holds all the same. */
            phone_number: string | null;
            /** @description Null when none was given, or when the person was erased. */
            reason: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC.
             */
            created_at: string;
        };
        BlacklistEntryAnswer: {
            message: string;
            data: components["schemas"]["BlacklistEntry"];
        };
        PageMeta: {
            /**
             * Format: int64
             * @description Absent where `after` was given.
             */
            page?: number;
            /** Format: int64 */
            per_page: number;
            /**
             * Format: int64
             * @description Items on all pages, 10000 where there are more; some of them where a search finds very many. Absent where `after` was given.
             */
            total?: number;
            /** @description `false` where there are more than `total`; else absent. */
            total_is_exact?: boolean;
            /**
             * Format: int64
             * @description Number of the last page; 1 when there is no item, null when the total is not exact. Absent where `after` was given.
             */
            last_page?: number | null;
            /** @description `true` where the page holds fewer items than `per_page` because they are large: 1 MiB is the most. `next` goes on where it ended. */
            cut?: boolean;
            /** @description What to send as `after` for the items behind this page; null when there are none. */
            next: string | null;
        };
        BlacklistEntryPage: {
            data: components["schemas"]["BlacklistEntry"][];
            meta: components["schemas"]["PageMeta"];
        };
        Person: {
            /** @description Phone number of the person, in E.164 format. */
            phone_number: string;
        };
        /** @enum {string} */
        PersonRequestType: "export" | "erasure";
        /** @enum {string} */
        PersonRequestStatus: "processing" | "completed" | "failed";
        BegunPersonRequest: {
            /** @description Id of the request. */
            id: string;
            type: components["schemas"]["PersonRequestType"];
            /** @description Failed: it is not tried again. */
            status: components["schemas"]["PersonRequestStatus"];
        };
        BegunPersonRequestAnswer: {
            message: string;
            data: components["schemas"]["BegunPersonRequest"];
        };
        /** @enum {string} */
        CallStatus: "completed" | "failed" | "no-answer" | "busy" | "voicemail" | "canceled";
        /** @enum {string} */
        CallDirection: "inbound" | "outbound";
        /** @enum {string} */
        Speaker: "assistant" | "customer" | "tool";
        TranscriptTurn: {
            /** @description Who spoke. */
            role: components["schemas"]["Speaker"];
            /** @description What was said. */
            text: string;
            /**
             * Format: double
             * @description Seconds from the start of the call.
             */
            at: number;
        };
        CompletedCall: {
            /**
             * Format: int64
             * @description The assistant that handled the call.
             */
            assistant_id: number;
            /**
             * Format: int64
             * @description The lead that was called, or one of its secondary contacts.
             */
            lead_id: number | null;
            /** @description Moves the lead; without one a completed call makes it completed. A lead that is blacklisted stays so, and a call that ended before the latest reported one moves nothing. */
            lead_status?: components["schemas"]["LeadStatus"];
            /** @description How the call ended. */
            status: components["schemas"]["CallStatus"];
            /** @description Who called: the customer (inbound) or the assistant (outbound). */
            direction: components["schemas"]["CallDirection"];
            /** @description Calling number. */
            from: string;
            /** @description Called number. */
            to: string;
            /**
             * Format: date-time
             * @description As the call engine reported it: ISO 8601 with an offset.
             */
            started_at: string;
            /**
             * Format: date-time
             * @description As the call engine reported it: ISO 8601 with an offset.
             */
            ended_at: string;
            /**
             * Format: double
             * @description Seconds.
             */
            duration: number;
            /** @description Where the recording is. */
            recording_url: string | null;
            /** @description What was said, in order. */
            transcript: components["schemas"]["TranscriptTurn"][];
            /** @description Variables the call started with. */
            input_variables: {
                [key: string]: unknown;
            };
            /** @description Values per post_call_schema. */
            extracted_variables: {
                [key: string]: unknown;
            };
            /** @description Outcome of the post-call evaluation. */
            evaluation: Record<string, never> | null;
        };
        /** @enum {string} */
        WebhookType: "call.completed" | "webhook.test";
        /** @enum {string} */
        DeliveryStatus: "scheduled" | "delivered" | "held" | "exhausted" | "cancelled" | "skipped";
        /** @enum {string} */
        AttemptTrigger: "schedule" | "manual" | "test" | "probe";
        DeliveryAttempt: {
            /**
             * Format: int64
             * @description Numbers the attempts of one trigger.
             */
            n: number;
            /** @description The schedule; somebody who asked for it: a redelivery, a test; or a probe of a suspended endpoint. */
            trigger: components["schemas"]["AttemptTrigger"];
            /** @description ISO 8601, UTC. Null while one that was asked for waits for its turn. */
            started_at: string | null;
            /** @description Null until it has ended. */
            finished_at: string | null;
            /** @description Null until it has ended. delivered; gone (410) or rejected (any other answer); blocked, dns, connect, tls, connection or timeout where there was no answer; unknown when its worker died, and it is made again. */
            outcome: string | null;
            /**
             * Format: int64
             * @description What the receiver answered.
             */
            status_code: number | null;
            /** Format: int64 */
            duration_ms: number | null;
            error: string | null;
            /** @description The beginning of the answer's body. */
            response_excerpt: string | null;
        };
        Delivery: {
            /** @description The webhook-id, the same for every attempt. */
            id: string;
            /** @description Null for a test. */
            call_id: string | null;
            /** Format: int64 */
            assistant_id: number | null;
            type: components["schemas"]["WebhookType"];
            /** @description Where it stands. */
            status: components["schemas"]["DeliveryStatus"];
            /** @description Why it is held (webhook_off, endpoint_suspended, crashed), exhausted (attempts_used_up, expired, crashed), cancelled (gone, held_too_long, assistant_deleted, restored, erased) or skipped (webhook_off, not_completed, unknown_assistant, invalid, restored, erased). */
            reason: string | null;
            /**
             * Format: int64
             * @description Attempts of the schedule that were started.
             */
            attempt_count: number;
            /** @description When the schedule tries it next; null unless it is scheduled. */
            next_attempt_at: string | null;
            /** @description ISO 8601, UTC. */
            created_at: string;
            /** @description Where it went last, or will go, without the query; null of what is not sent. */
            url: string | null;
            /** @description What was wrong with the newest attempt that has ended; null where it delivered. */
            last_error: string | null;
            /** @description The newest 50, oldest first. */
            attempts: components["schemas"]["DeliveryAttempt"][];
        };
        AttemptAnswer: {
            message: string;
            data: components["schemas"]["Delivery"];
        };
        /** @enum {string} */
        RecoverableStatus: "exhausted" | "cancelled" | "skipped" | "held" | "scheduled";
        RedeliverBody: {
            /** @description These deliveries. No other field goes with them. */
            ids?: string[];
            /**
             * Format: int64
             * @description Or those of this assistant, as in webhook-recover.
             */
            assistant_id?: number;
            /** @description Deliveries that were made on this day (UTC) or later, or at this instant or later. */
            since?: string;
            /** @description And on this day or earlier, or at this instant or earlier; now when it is absent. */
            until?: string;
            /** @description Which of them; all but scheduled when it is absent. Of the skipped ones those of a time when the webhook was off; of the scheduled ones those that wait for a retry, which are due now. */
            statuses?: components["schemas"]["RecoverableStatus"][];
        };
        Recovered: {
            /**
             * Format: int64
             * @description Deliveries that are looked at again. Calls that are not completed are among them each time, and get no body while send_webhook_only_on_completed is true.
             */
            count: number;
        };
        RecoverAnswer: {
            message: string;
            data: components["schemas"]["Recovered"];
        };
        Resumed: {
            /**
             * Format: int64
             * @description Deliveries that were held and are scheduled again; 0 when it was not suspended.
             */
            resumed: number;
        };
        ResumeAnswer: {
            message: string;
            data: components["schemas"]["Resumed"];
        };
        RotationBody: {
            /**
             * Format: int64
             * @description How long what signed before signs as well. With 0 everything that signed before ends at once. Default: 24.
             */
            overlap_hours?: number;
        };
        PreviousSecret: {
            secret: string;
            /** @description ISO 8601, UTC. */
            expires_at: string;
        };
        WebhookSecret: {
            /** @description Verifies webhook-signature, as Standard Webhooks describes. */
            secret: string;
            /** @description After a rotation, the secret that was current before: signs as well until it expires. */
            previous: components["schemas"]["PreviousSecret"] | null;
        };
        WebhookSecretAnswer: {
            data: components["schemas"]["WebhookSecret"];
        };
        AssistantSecret: {
            /** @description Verifies webhook-signature, as Standard Webhooks describes. */
            secret: string;
            /** @description After a rotation, the secret that was current before: signs as well until it expires. */
            previous: components["schemas"]["PreviousSecret"] | null;
            /** @description Whether the secret is the assistant's; without one of its own it has yours. */
            own: boolean;
        };
        AssistantSecretAnswer: {
            data: components["schemas"]["AssistantSecret"];
        };
        RecoverBody: {
            /** @description Deliveries that were made on this day (UTC) or later, or at this instant or later. */
            since: string;
            /** @description And on this day or earlier, or at this instant or earlier; now when it is absent. */
            until?: string;
            /** @description Which of them; all but scheduled when it is absent. Of the skipped ones those of a time when the webhook was off; of the scheduled ones those that wait for a retry, which are due now. */
            statuses?: components["schemas"]["RecoverableStatus"][];
        };
        WebhookOptions: {
            /** @description The last four characters of each value are shown; none where it has eight or fewer. */
            headers: {
                [key: string]: string;
            };
            /**
             * Format: int64
             * @description Most attempts of the schedule that start in a second; null for no such bound. Tests and redeliveries are not counted.
             */
            max_per_second: number | null;
        };
        OneWebhookOptions: {
            data: components["schemas"]["WebhookOptions"];
        };
        WebhookOptionsInput: {
            /** @description Sent with each attempt from then on, in place of all that were set before. Names compare without case. Not those that Ringledger sets, such as user-agent, content-* and webhook-*, nor host and those of the connection. */
            headers?: {
                [key: string]: string;
            };
            /**
             * Format: int64
             * @description Most attempts of the schedule that start in a second; null for no such bound. Tests and redeliveries are not counted.
             */
            max_per_second?: number | null;
        };
        WebhookOptionsAnswer: {
            message: string;
            data: components["schemas"]["WebhookOptions"];
        };
        AssistantSummaryPage: {
            data: components["schemas"]["AssistantSummary"][];
            meta: components["schemas"]["PageMeta"];
        };
        /** @enum {string} */
        AssistantEventType: "AssistantCreated" | "AssistantUpdated" | "AssistantActivated" | "AssistantDeactivated" | "AssistantDeleted";
        FieldChange: {
            field: string;
            /** @description The value before; null for a new assistant. */
            from: unknown;
            /** @description The value after. */
            to: unknown;
        };
        HistoryEntry: {
            /**
             * Format: int64
             * @description Revision of the assistant after the change: its ETag.
             */
            revision: number;
            event: components["schemas"]["AssistantEventType"];
            /** @description ISO 8601, UTC. */
            at: string;
            changes: components["schemas"]["FieldChange"][];
        };
        HistoryEntryPage: {
            data: components["schemas"]["HistoryEntry"][];
            meta: components["schemas"]["PageMeta"];
        };
        LeadPage: {
            data: components["schemas"]["Lead"][];
            meta: components["schemas"]["PageMeta"];
        };
        /** @enum {string} */
        ExportFormat: "csv" | "ndjson";
        LeadImport: {
            id: string;
            status: components["schemas"]["LeadImportStatus"];
            /**
             * Format: int64
             * @description Rows that were sent.
             */
            total: number;
            /**
             * Format: int64
             * @description Rows that are done.
             */
            processed: number;
            /**
             * Format: int64
             * @description Rows that became a lead.
             */
            created: number;
            /**
             * Format: int64
             * @description Rows whose phone number was a lead of the campaign already.
             */
            duplicates: number;
            /**
             * Format: int64
             * @description Rows that were refused.
             */
            invalid: number;
            /** @description Why it failed: the rows that are left cannot be imported. */
            reason: string | null;
            /** @description ISO 8601, UTC. */
            created_at: string;
            /** @description ISO 8601, UTC. */
            finished_at: string | null;
        };
        FoundLeadImport: {
            data: components["schemas"]["LeadImport"];
        };
        LeadImportPage: {
            data: components["schemas"]["LeadImport"][];
            meta: components["schemas"]["PageMeta"];
        };
        /** @enum {string} */
        ImportedRowOutcome: "created" | "duplicate" | "invalid";
        ImportedRow: {
            /**
             * Format: int64
             * @description Number of the row in the list or the file. The first row after the header line is 1; empty rows count.
             */
            row: number;
            outcome: components["schemas"]["ImportedRowOutcome"];
            /**
             * Format: int64
             * @description Id of the lead that was created.
             */
            lead_id: number | null;
            /** @description Why the row is invalid, by field, as in a 422; `row` where it has too many or too few cells, and how many more errors there are than the first 5. Null of further rows, where an import has 20 MiB of errors. */
            errors: {
                [key: string]: string[];
            } | null;
        };
        ImportedRowPage: {
            data: components["schemas"]["ImportedRow"][];
            meta: components["schemas"]["PageMeta"];
        };
        CalledLead: {
            /**
             * Format: int64
             * @description As in lead_id.
             */
            id: number;
            /**
             * Format: int64
             * @description The lead that the secondary contact belongs to; absent for a lead.
             */
            primary_lead_id?: number;
        };
        /** @description What is not described here is as in Call. */
        CallSummary: {
            call_id: string;
            /** Format: int64 */
            assistant_id: number;
            /** Format: int64 */
            lead_id: number | null;
            lead: components["schemas"]["CalledLead"] | null;
            status: components["schemas"]["CallStatus"];
            direction: components["schemas"]["CallDirection"];
            from: string | null;
            to: string | null;
            started_at: string;
            ended_at: string;
            /** Format: double */
            duration: number;
            /** @enum {boolean} */
            erased?: true;
        };
        CallSummaryPage: {
            data: components["schemas"]["CallSummary"][];
            meta: components["schemas"]["PageMeta"];
        };
        Call: {
            /** @description Identifies the call; chosen by the call engine. 1 to 128 letters, digits, dots, underscores, tildes or hyphens. */
            call_id: string;
            /**
             * Format: int64
             * @description The assistant that handled the call.
             */
            assistant_id: number;
            /**
             * Format: int64
             * @description The lead that was called, or one of its secondary contacts.
             */
            lead_id: number | null;
            /** @description The same, with its primary lead where it is a secondary contact. */
            lead: components["schemas"]["CalledLead"] | null;
            /** @description How the call ended. */
            status: components["schemas"]["CallStatus"];
            /** @description Who called: the customer (inbound) or the assistant (outbound). */
            direction: components["schemas"]["CallDirection"];
            /** @description Calling number. Null when the person was erased. */
            from: string | null;
            /** @description Called number. Null when the person was erased. */
            to: string | null;
            /** @description ISO 8601, UTC. */
            started_at: string;
            /** @description ISO 8601, UTC. */
            ended_at: string;
            /**
             * Format: double
             * @description Seconds.
             */
            duration: number;
            /**
             * @description The person was erased: nothing of them is kept.
             * @enum {boolean}
             */
            erased?: true;
            /** @description Where the recording is. */
            recording_url: string | null;
            /** @description What was said, in order. Null when the person was erased. */
            transcript: components["schemas"]["TranscriptTurn"][] | null;
            /** @description Variables the call started with. Null when the person was erased. */
            input_variables: {
                [key: string]: unknown;
            } | null;
            /** @description Values per post_call_schema. Null when the person was erased. */
            extracted_variables: {
                [key: string]: unknown;
            } | null;
            /** @description Outcome of the post-call evaluation. */
            evaluation: {
                [key: string]: unknown;
            } | null;
            /** @description The webhooks of the call, as they are now. */
            deliveries: components["schemas"]["Delivery"][];
        };
        OneCall: {
            data: components["schemas"]["Call"];
        };
        HourCounts: {
            /** @description When the hour begins: ISO 8601, UTC. */
            hour: string;
            /** @description How many by status. A status that none has is absent. */
            counts: {
                [key: string]: number;
            };
        };
        HoursOfDay: {
            /** @description 24 hours, oldest first. The last one has not ended yet. */
            hours: components["schemas"]["HourCounts"][];
            /** @description False where there are more than 100,000: then the newest of them are counted. */
            is_exact: boolean;
        };
        OwnDay: {
            calls: components["schemas"]["HoursOfDay"];
            deliveries: components["schemas"]["HoursOfDay"];
        };
        OneOwnDay: {
            data: components["schemas"]["OwnDay"];
        };
        Voice: {
            /**
             * Format: int64
             * @description The voice_id of an assistant.
             */
            id: number;
            name: string;
        };
        VoicePage: {
            data: components["schemas"]["Voice"][];
            meta: components["schemas"]["PageMeta"];
        };
        Language: {
            /** @description The language of an assistant. */
            name: string;
        };
        LanguagePage: {
            data: components["schemas"]["Language"][];
            meta: components["schemas"]["PageMeta"];
        };
        Model: {
            /** @description The llm_model of an assistant. */
            name: string;
        };
        ModelPage: {
            data: components["schemas"]["Model"][];
            meta: components["schemas"]["PageMeta"];
        };
        CampaignItem: {
            /**
             * Format: int64
             * @description The campaign_id of a lead.
             */
            id: number;
            name: string;
        };
        CampaignItemPage: {
            data: components["schemas"]["CampaignItem"][];
            meta: components["schemas"]["PageMeta"];
        };
        PhoneNumberPage: {
            data: components["schemas"]["PhoneNumber"][];
            meta: components["schemas"]["PageMeta"];
        };
        ApiKey: {
            /** Format: int64 */
            id: number;
            name: string;
            /** @description How the key begins, to tell one from another. */
            prefix: string;
            scopes: components["schemas"]["Scope"][];
            /** @description ISO 8601, UTC. From then on it is refused; null for never. */
            expires_at: string | null;
            /** @description ISO 8601, UTC. */
            created_at: string;
            /** @description ISO 8601, UTC. The minute of its last use; null where it was not used. A new database begins anew. */
            last_used_at: string | null;
        };
        ApiKeyPage: {
            data: components["schemas"]["ApiKey"][];
            meta: components["schemas"]["PageMeta"];
        };
        Listing: {
            blacklisted: boolean;
        };
        OneListing: {
            data: components["schemas"]["Listing"];
        };
        PersonRequest: {
            /** @description Id of the request. */
            id: string;
            type: components["schemas"]["PersonRequestType"];
            /** @description Failed: it is not tried again. */
            status: components["schemas"]["PersonRequestStatus"];
            /** @description ISO 8601, UTC. */
            created_at: string;
            /** @description ISO 8601, UTC. Null until it has ended. */
            finished_at: string | null;
            /** @description Only of one that cannot go on: what it waits for. Where that is parked events, your operator has to act. */
            waits_for?: string;
        };
        OnePersonRequest: {
            data: components["schemas"]["PersonRequest"];
        };
        ExportedPerson: Record<string, never>;
        UsedApiKey: {
            /** Format: int64 */
            id: number;
            name: string;
        };
        Me: {
            /** @description The user, as the token names them. */
            id: string;
            /** @description What the key may do; a JWT may do both. */
            scopes: components["schemas"]["Scope"][];
            /** @description The API key that was sent; null with a JWT. */
            api_key: components["schemas"]["UsedApiKey"] | null;
            /**
             * Format: int64
             * @description How many requests the user may make in a minute; 0 for no limit.
             */
            rate_limit_per_minute: number;
        };
        OneMe: {
            data: components["schemas"]["Me"];
        };
        /** @enum {string} */
        AttemptOutcome: "delivered" | "gone" | "rejected" | "blocked" | "dns" | "connect" | "tls" | "connection" | "timeout" | "unknown";
        /** @description What is not described here is as in Delivery. */
        DeliverySummary: {
            id: string;
            call_id: string | null;
            /** Format: int64 */
            assistant_id: number | null;
            type: components["schemas"]["WebhookType"];
            status: components["schemas"]["DeliveryStatus"];
            reason: string | null;
            /** Format: int64 */
            attempt_count: number;
            next_attempt_at: string | null;
            created_at: string;
            url: string | null;
            last_error: string | null;
        };
        DeliverySummaryPage: {
            data: components["schemas"]["DeliverySummary"][];
            meta: components["schemas"]["PageMeta"];
        };
        DeliveryRequest: {
            method: string;
            /** @description Without its query, which may hold a secret. */
            url: string;
            /** @description Headers of the newest attempt, without its signature and your own. */
            headers: {
                [key: string]: string;
            };
            /** @description Names of your own headers; their values are not kept. Empty until the attempt has ended. */
            header_names: string[];
            /** @description Byte for byte; null when it is no longer kept. */
            body: string | null;
        };
        /** @description What is not described here is as in Delivery. */
        DeliveryDetails: {
            id: string;
            call_id: string | null;
            /** Format: int64 */
            assistant_id: number | null;
            type: components["schemas"]["WebhookType"];
            status: components["schemas"]["DeliveryStatus"];
            reason: string | null;
            /** Format: int64 */
            attempt_count: number;
            next_attempt_at: string | null;
            created_at: string;
            url: string | null;
            last_error: string | null;
            attempts: components["schemas"]["DeliveryAttempt"][];
            /** @description What was sent last. Null until something is. */
            request: components["schemas"]["DeliveryRequest"] | null;
        };
        OneDeliveryDetails: {
            data: components["schemas"]["DeliveryDetails"];
        };
        /** @enum {string} */
        NoticeType: "endpoint_failing" | "endpoint_recovered" | "endpoint_suspended" | "delivery_exhausted";
        WebhookNotice: {
            /**
             * Format: int64
             * @description Higher for newer ones.
             */
            id: number;
            /** @description endpoint_failing: three attempts in a row have failed at a webhook_url; told again only after a success. endpoint_recovered: that success. endpoint_suspended: nothing is sent there until it resumes. delivery_exhausted: no further attempt is made. */
            type: components["schemas"]["NoticeType"];
            /**
             * Format: int64
             * @description The assistant of that delivery.
             */
            assistant_id: number | null;
            /** @description The delivery whose attempt led to it. */
            delivery_id: string | null;
            /** @description failed_three_times; gone (410) or failing (only failures for five days); attempts_used_up, expired, or crashed (each attempt ended our worker; it is made again when you ask for it); null of endpoint_recovered. */
            reason: string | null;
            /** @description ISO 8601, UTC. */
            at: string;
        };
        WebhookNoticePage: {
            data: components["schemas"]["WebhookNotice"][];
            meta: components["schemas"]["PageMeta"];
        };
        /** @enum {string} */
        ProjectionState: "running" | "paused" | "stopped" | "filling";
        /** @enum {string} */
        GenerationState: "building" | "ready" | "active" | "retained" | "dropping";
        ProjectionGeneration: {
            projection: string;
            /** Format: int64 */
            generation: number;
            /** @description building by a replay; ready to be swapped in; active, which readers see; retained, to go back to; dropping. */
            state: components["schemas"]["GenerationState"];
            /** @description False while it is filled for the first time. */
            complete: boolean;
            /**
             * Format: int64
             * @description Version of the code that folds it.
             */
            code_version: number;
            /**
             * Format: int64
             * @description Version of the code of this release.
             */
            present_version: number;
            /** @description In the log, as text: it may be larger than a number of JSON. */
            position: string;
            /** @description How far the log is ahead, in positions. */
            behind: string;
            /** @description When its rows or its position changed last; `never` before. */
            updated_at: string;
            /** @description The process that feeds or builds it. */
            owner: string | null;
            /** @description Since when an operator has paused it. */
            paused_since: string | null;
            /** @description Against what it was verified before it was swapped in. */
            verified: string | null;
            /** @description Whether readers can go back to a retained one: `yes`, or `no: ` and why. */
            rollback: string | null;
            /** @description The command that is due. */
            due: string | null;
        };
        /** @enum {string} */
        ProjectionActionName: "replay" | "verify" | "rollback" | "drop" | "pause" | "resume";
        /** @enum {string} */
        ProjectionActionState: "running" | "done" | "failed";
        ProjectionAction: {
            id: string;
            action: components["schemas"]["ProjectionActionName"];
            projection: string;
            state: components["schemas"]["ProjectionActionState"];
            /**
             * Format: double
             * @description 0 to 1; null where nobody knows the end.
             */
            progress: number | null;
            /** @description What it does, or what became of it, for a person to read. */
            message: string;
            /** @description ISO 8601, UTC. */
            began_at: string;
        };
        ActionOffer: {
            action: components["schemas"]["ProjectionActionName"];
            /** @description Why it would be refused now; null where it can be begun. */
            why_not: string | null;
        };
        Projection: {
            /** @description A projection, or `dispatcher`: that of webhooks, which has no generations. */
            name: string;
            /** @description How the generation is that readers see. */
            state: components["schemas"]["ProjectionState"];
            /** @description Why it is stopped. */
            problem: string | null;
            /** @description In the log, as text. */
            position: string;
            /**
             * Format: int64
             * @description How far the log is ahead. Beyond 10,000 events it is not exact.
             */
            lag_events: number;
            lag_is_exact: boolean;
            /** Format: double */
            lag_seconds: number;
            /**
             * Format: double
             * @description Events a second, in the last full minute.
             */
            rate: number;
            /** Format: int64 */
            parked_streams: number;
            generations: components["schemas"]["ProjectionGeneration"][];
            /** @description What runs on it just now. */
            action: components["schemas"]["ProjectionAction"] | null;
            /** @description What an operator can do to it. */
            offers: components["schemas"]["ActionOffer"][];
        };
        AllProjection: {
            data: components["schemas"]["Projection"][];
        };
        ProjectionActionInput: {
            /** @description A replay swaps although its rows differ from those that readers see. */
            accept_differences?: boolean;
            /**
             * Format: int64
             * @description A drop removes only this generation. Without it, a drop removes all retained ones.
             */
            generation?: number;
        };
        BegunAction: {
            /** @description Id of the action. */
            id: string;
        };
        OneBegunAction: {
            data: components["schemas"]["BegunAction"];
        };
        Done: {
            /** @description What was done, for a person to read. */
            message: string;
        };
        AllProjectionAction: {
            data: components["schemas"]["ProjectionAction"][];
        };
        OneProjectionAction: {
            data: components["schemas"]["ProjectionAction"];
        };
        ParkedStream: {
            projection: string;
            /**
             * Format: int64
             * @description Null of the dispatcher, which has none.
             */
            generation: number | null;
            stream: string;
            /**
             * Format: int64
             * @description So many of its events are parked.
             */
            events: number;
            /** @description Revision of the first parked event. The fields below describe the same event. */
            revision: string;
            position: string;
            type: string;
            error: string;
            /** @description ISO 8601, UTC. */
            since: string;
        };
        AllParkedStream: {
            data: components["schemas"]["ParkedStream"][];
        };
        RetryParked: {
            /** @description A projection, or `dispatcher`. */
            projection: string;
            /** @description Whose events are parked. */
            stream: string;
        };
        SkipParked: {
            /** @description A projection, or `dispatcher`. */
            projection: string;
            /** @description Whose events are parked. */
            stream: string;
            /** @description Revision of the event. */
            revision: string;
            /** @description Why it is given up, for those who come later. */
            reason: string;
        };
        /** @description What is not described here is as in Delivery. */
        DeliveryOfUser: {
            id: string;
            call_id: string | null;
            /** Format: int64 */
            assistant_id: number | null;
            type: components["schemas"]["WebhookType"];
            status: components["schemas"]["DeliveryStatus"];
            reason: string | null;
            /** Format: int64 */
            attempt_count: number;
            next_attempt_at: string | null;
            created_at: string;
            url: string | null;
            last_error: string | null;
            /** @description Whose it is; null when the assistant is unknown. */
            user_id: string | null;
        };
        DeliveryOfUserPage: {
            data: components["schemas"]["DeliveryOfUser"][];
            meta: components["schemas"]["PageMeta"];
        };
        /** @description What is not described here is as in DeliveryDetails. */
        DeliveryOfUserDetails: {
            /** @description The webhook-id, the same for every attempt. */
            id: string;
            /** @description Null for a test. */
            call_id: string | null;
            /** Format: int64 */
            assistant_id: number | null;
            type: components["schemas"]["WebhookType"];
            /** @description Where it stands. */
            status: components["schemas"]["DeliveryStatus"];
            /** @description Why it is held (webhook_off, endpoint_suspended, crashed), exhausted (attempts_used_up, expired, crashed), cancelled (gone, held_too_long, assistant_deleted, restored, erased) or skipped (webhook_off, not_completed, unknown_assistant, invalid, restored, erased). */
            reason: string | null;
            /**
             * Format: int64
             * @description Attempts of the schedule that were started.
             */
            attempt_count: number;
            /** @description When the schedule tries it next; null unless it is scheduled. */
            next_attempt_at: string | null;
            /** @description ISO 8601, UTC. */
            created_at: string;
            /** @description Where it went last, or will go, without the query; null of what is not sent. */
            url: string | null;
            /** @description What was wrong with the newest attempt that has ended; null where it delivered. */
            last_error: string | null;
            /** @description The newest 50, oldest first. */
            attempts: components["schemas"]["DeliveryAttempt"][];
            request: components["schemas"]["DeliveryRequest"] | null;
            /** @description Whose it is; null when the assistant is unknown. */
            user_id: string | null;
        };
        OneDeliveryOfUserDetails: {
            data: components["schemas"]["DeliveryOfUserDetails"];
        };
        /** @enum {string} */
        TroubledState: "suspended" | "failing" | "paused";
        TroubledWebhook: {
            /** Format: int64 */
            assistant_id: number;
            user_id: string;
            /** @description Without its query, which may hold a secret. */
            url: string;
            /** @description suspended: nothing is sent until it resumes. failing: three attempts or more since the last success have failed. paused: its receiver asked for a pause, which ends by itself. */
            state: components["schemas"]["TroubledState"];
            /** @description gone or failing of a suspended one; too_many_requests or unavailable of a pause. */
            reason: string | null;
            /** @description When it began to fail, or was suspended. */
            since: string | null;
            /** @description When a pause ends. */
            until: string | null;
            /** @description What was wrong with the last attempt that failed. */
            last_error: string | null;
            /**
             * Format: int64
             * @description Deliveries that wait for it; 1,000 where there are more.
             */
            waiting: number;
        };
        AllTroubledWebhook: {
            data: components["schemas"]["TroubledWebhook"][];
        };
        WebhookQueue: {
            /**
             * Format: int64
             * @description Attempts that are due, and that a worker could make.
             */
            due: number;
            /** Format: int64 */
            in_flight: number;
            /** Format: int64 */
            held: number;
            /** @description Since when the attempt that waits longest is due. */
            oldest_due: string | null;
            /**
             * Format: int64
             * @description Webhooks that nothing is sent to.
             */
            suspended_endpoints: number;
            /**
             * Format: int64
             * @description Others whose last three attempts or more have failed.
             */
            failing_endpoints: number;
            /**
             * Format: int64
             * @description Calls without a row in the delivery log; null before the first count.
             */
            unaccounted: number | null;
        };
        OneWebhookQueue: {
            data: components["schemas"]["WebhookQueue"];
        };
        Latency: {
            /** Format: double */
            p50: number;
            /** Format: double */
            p99: number;
        };
        HourOfAttempts: {
            /** @description When it begins. */
            hour: string;
            /** @description That were started in it, by outcome. */
            attempts: {
                [key: string]: number;
            };
            /** @description From the row of a call to the end of the attempt that delivered it, in seconds. */
            latency: components["schemas"]["Latency"] | null;
        };
        CommandsOfTenMinutes: {
            /** @description When the ten minutes begin. Those without a command are not in the list. */
            at: string;
            /** Format: int64 */
            accepted: number;
            /** Format: int64 */
            refused: number;
            /** Format: int64 */
            failed: number;
        };
        LastDay: {
            attempts: components["schemas"]["HourOfAttempts"][];
            /**
             * Format: double
             * @description 1 when every attempt was looked at, less when a sample was; then numbers are estimates.
             */
            share: number;
            commands: components["schemas"]["CommandsOfTenMinutes"][];
        };
        OneLastDay: {
            data: components["schemas"]["LastDay"];
        };
        /** @enum {string} */
        WorkState: "prepared" | "accepted" | "failed";
        Work: {
            id: string;
            kind: string;
            user_id: string;
            /** @description prepared: its event is not in the log yet. accepted: workers do it. failed: within a day. */
            state: components["schemas"]["WorkState"];
            /** Format: int64 */
            turns: number;
            /**
             * Format: int64
             * @description Turns in a row that kept nothing.
             */
            failures: number;
            /** @description What it waits for. */
            waits_for: string | null;
            /** @description What the last failed turn said, or why failed work was given up. */
            last_error: string | null;
            /** @description ISO 8601, UTC. */
            created_at: string;
            /** @description When its next turn is due at the earliest. */
            due_at: string;
            /** @description When it failed. */
            finished_at: string | null;
        };
        AllWork: {
            data: components["schemas"]["Work"][];
        };
        Setting: {
            name: string;
            /** @description As it is; of a URL its origin. Null of a secret, and where it is not set and has no default. */
            value: string | null;
            /** @description False where the default holds. */
            is_set: boolean;
        };
        AllSetting: {
            data: components["schemas"]["Setting"][];
        };
        /** @enum {string} */
        FindingLevel: "ok" | "skipped" | "warning" | "error";
        Finding: {
            /** @description Such as `Postgres`. */
            part: string;
            check: string;
            level: components["schemas"]["FindingLevel"];
            found: string;
            /** @description What mends it. */
            mend?: string;
        };
        AllFinding: {
            data: components["schemas"]["Finding"][];
        };
        WebhookAssistant: {
            /**
             * Format: int64
             * @description As in `GET /user/assistant/{id}`.
             */
            id: number;
            /** @description As it was then. */
            name: string;
        };
        WebhookCampaign: {
            /**
             * Format: int64
             * @description The campaign of the lead.
             */
            id: number;
            /** @description As it was when the call was recorded. */
            name: string;
        };
        WebhookLead: {
            /**
             * Format: int64
             * @description The lead, or the secondary contact, that was called.
             */
            id: number;
            /**
             * Format: int64
             * @description The lead that a secondary contact belongs to. Absent for a lead.
             */
            primary_lead_id?: number;
            /** @description E.164. */
            phone_number: string;
            /** @description Whatever was given with the contact. The texts `customer_name` and `email` are always there, empty when not given. */
            variables: {
                [key: string]: unknown;
            };
            /** @description As it stands after the call. */
            status: components["schemas"]["LeadStatus"];
            /** @description Where the lead belongs. */
            campaign: components["schemas"]["WebhookCampaign"];
        };
        WebhookCall: {
            /** @description Identifies the call; chosen by the call engine. 1 to 128 letters, digits, dots, underscores, tildes or hyphens. */
            call_id: string;
            /** @description How the call ended. */
            status: components["schemas"]["CallStatus"];
            /** @description Who called: the customer (inbound) or the assistant (outbound). */
            direction: components["schemas"]["CallDirection"];
            /** @description Calling number. */
            from: string;
            /** @description Called number. */
            to: string;
            /**
             * Format: date-time
             * @description As the call engine reported it: ISO 8601 with an offset.
             */
            started_at: string;
            /**
             * Format: date-time
             * @description As the call engine reported it: ISO 8601 with an offset.
             */
            ended_at: string;
            /**
             * Format: double
             * @description Seconds.
             */
            duration: number;
            /** @description The assistant that the webhook is set on. */
            assistant: components["schemas"]["WebhookAssistant"];
            /** @description null when the call had no lead of the assistant's user. */
            lead: components["schemas"]["WebhookLead"] | null;
            /** @description One line for each turn: `role: text`. */
            transcript: string;
            /** @description What was said, in order. */
            transcript_turns: components["schemas"]["TranscriptTurn"][];
            /** @description Variables the call started with. */
            input_variables: {
                [key: string]: unknown;
            };
            /** @description Exactly the names of the post_call_schema; null for what was not extracted. */
            extracted_variables: {
                [key: string]: unknown;
            };
            /** @description Outcome of the post-call evaluation. Only with post_call_evaluation. */
            evaluation?: Record<string, never> | null;
            /** @description Where the recording is. Only with include_recording_in_webhook. */
            recording_url?: string | null;
        };
        /** @description What is not described here is as in WebhookCall. */
        TruncatedCall: {
            call_id: string;
            status: components["schemas"]["CallStatus"];
            direction?: components["schemas"]["CallDirection"];
            from?: string;
            to?: string;
            /** Format: date-time */
            started_at?: string;
            /** Format: date-time */
            ended_at?: string;
            /** Format: double */
            duration?: number;
            assistant?: components["schemas"]["WebhookAssistant"];
            lead?: components["schemas"]["WebhookLead"] | null;
            transcript?: string;
            transcript_turns?: components["schemas"]["TranscriptTurn"][];
            input_variables?: {
                [key: string]: unknown;
            };
            extracted_variables?: {
                [key: string]: unknown;
            };
            evaluation?: Record<string, never> | null;
            recording_url?: string | null;
            /** @description Fields were left out to keep the body within 256 KiB. */
            truncated: boolean;
        };
        WebhookPayload: {
            /**
             * @description What happened.
             * @enum {string}
             */
            type: "call.completed";
            /**
             * Format: date-time
             * @description When the call was recorded: ISO 8601, UTC.
             */
            timestamp: string;
            /** @description The call; with `truncated`, what is left of one that is too large. */
            data: components["schemas"]["WebhookCall"] | components["schemas"]["TruncatedCall"];
        };
        WebhookTest: {
            /**
             * @description What happened.
             * @enum {string}
             */
            type: "webhook.test";
            /**
             * Format: date-time
             * @description When the test was asked for: ISO 8601, UTC.
             */
            timestamp: string;
            /** @description A sample of a call, with every field, of the assistant itself. */
            data: components["schemas"]["WebhookCall"];
        };
    };
    responses: {
        /**
         * @description Refused, or failed:
         *
         *     - 400: The body is not JSON in UTF-8, or has a key that is never accepted.
         *     - 401: No token or API key, or one that is wrong, has expired or was revoked.
         *     - 403: The token has another role, or the API key has not the scope.
         *     - 409: Another request with this Idempotency-Key is being handled, or it cannot be done as things stand.
         *     - 410: An operator deleted its events from the log for good: nothing can be written there any more.
         *     - 412: If-Match does not hold; nothing was changed.
         *     - 413: The body is too large.
         *     - 415: The body is not declared as JSON, in another charset than UTF-8, or compressed.
         *     - 429: Too many requests in this minute: of the user, or of an address without a valid token. Or too many reads of the user at once, or too many bytes of bodies.
         *     - 500: It failed, or its outcome is not known: a retry with the same Idempotency-Key resolves that.
         *     - 503: A back end is away, or the read model behind X-Read-Position; nothing was changed.
         */
        Refused: {
            headers: {
                "X-Correlation-Id": components["headers"]["Correlation"];
                "X-RateLimit-Limit": components["headers"]["Limit"];
                "X-RateLimit-Remaining": components["headers"]["Remaining"];
                "X-RateLimit-Reset": components["headers"]["Reset"];
                "WWW-Authenticate": components["headers"]["Challenge"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-Read-Position": components["headers"]["Position"];
                "X-Ignored-Fields": components["headers"]["Ignored"];
                "Accept-Encoding": components["headers"]["Accept-Encoding"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "message": "Unauthenticated."
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The assistant as it stands after the command. */
        AssistantAnswer: {
            headers: {
                ETag: components["headers"]["ETag"];
                "X-Read-Position": components["headers"]["Position"];
                "X-Read-Model": components["headers"]["Pending"];
                "X-Ignored-Fields": components["headers"]["Ignored"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "X-Correlation-Id": components["headers"]["Correlation"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["AssistantAnswer"];
            };
        };
        /** @description Validation failed: every refused field with every reason, the first 500 where there are more. Paths have dots; `body` is the body as a whole. */
        E422: {
            headers: {
                "X-Correlation-Id": components["headers"]["Correlation"];
                "X-RateLimit-Limit": components["headers"]["Limit"];
                "X-RateLimit-Remaining": components["headers"]["Remaining"];
                "X-RateLimit-Reset": components["headers"]["Reset"];
                "X-Read-Position": components["headers"]["Position"];
                "X-Ignored-Fields": components["headers"]["Ignored"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "message": "The given data was invalid.",
                 *       "errors": {
                 *         "assistant_name": [
                 *           "must be at most 255 characters"
                 *         ],
                 *         "voice_id": [
                 *           "must be an available voice"
                 *         ],
                 *         "post_call_schema.0.name": [
                 *           "is required"
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description It does not exist, or belongs to another user. */
        E404: {
            headers: {
                "X-Correlation-Id": components["headers"]["Correlation"];
                "X-RateLimit-Limit": components["headers"]["Limit"];
                "X-RateLimit-Remaining": components["headers"]["Remaining"];
                "X-RateLimit-Reset": components["headers"]["Reset"];
                "X-Read-Position": components["headers"]["Position"];
                "X-Ignored-Fields": components["headers"]["Ignored"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "message": "Assistant not found or does not belong to the authenticated user"
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description It is deleted. */
        Message: {
            headers: {
                "X-Read-Position": components["headers"]["Position"];
                "X-Read-Model": components["headers"]["Pending"];
                "X-Ignored-Fields": components["headers"]["Ignored"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "X-Correlation-Id": components["headers"]["Correlation"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Message"];
            };
        };
        /** @description The campaign as it stands after the command. */
        CampaignAnswer: {
            headers: {
                ETag: components["headers"]["ETag"];
                "X-Read-Position": components["headers"]["Position"];
                "X-Read-Model": components["headers"]["Pending"];
                "X-Ignored-Fields": components["headers"]["Ignored"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "X-Correlation-Id": components["headers"]["Correlation"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["CampaignAnswer"];
            };
        };
        /** @description The lead with its secondary contacts. */
        LeadAnswer: {
            headers: {
                ETag: components["headers"]["ETag"];
                "X-Read-Position": components["headers"]["Position"];
                "X-Read-Model": components["headers"]["Pending"];
                "X-Ignored-Fields": components["headers"]["Ignored"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "X-Correlation-Id": components["headers"]["Correlation"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["LeadAnswer"];
            };
        };
        /** @description The entry: with 200 one that there was already, as it was. */
        BlacklistEntryAnswer: {
            headers: {
                ETag: components["headers"]["ETag"];
                "X-Read-Position": components["headers"]["Position"];
                "X-Read-Model": components["headers"]["Pending"];
                "X-Ignored-Fields": components["headers"]["Ignored"];
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "X-Correlation-Id": components["headers"]["Correlation"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "message": "Phone number blacklisted successfully",
                 *       "data": {
                 *         "id": 1,
                 *         "phone_number": "+15551230100",
                 *         "reason": "Asked not to be called",
                 *         "created_at": "2026-01-31T12:05:00.000Z"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["BlacklistEntryAnswer"];
            };
        };
        /** @description How many. */
        RecoverAnswer: {
            headers: {
                "Idempotent-Replayed": components["headers"]["Replayed"];
                "X-Correlation-Id": components["headers"]["Correlation"];
                "X-Ignored-Fields": components["headers"]["Ignored"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["RecoverAnswer"];
            };
        };
        /** @description Another request with this Idempotency-Key is being handled, or it cannot be done as things stand. */
        E409: {
            headers: {
                "X-Correlation-Id": components["headers"]["Correlation"];
                "X-RateLimit-Limit": components["headers"]["Limit"];
                "X-RateLimit-Remaining": components["headers"]["Remaining"];
                "X-RateLimit-Reset": components["headers"]["Reset"];
                "X-Read-Position": components["headers"]["Position"];
                "X-Ignored-Fields": components["headers"]["Ignored"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "message": "Another action runs on leads: wait until it has ended."
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Delivered. The body is not needed. */
        E2XX: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
    };
    parameters: {
        /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
        Correlation: string;
        /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
        Key: string;
        /**
         * @description The assistant.
         * @example 1
         */
        AssistantPath: number;
        /** @description The ETag that the change is based on, such as `"0"`. When it has changed since, nothing is done and the answer is 412. */
        "If-Match": string;
        /** @description The ETag of an earlier answer. While it is the present one, the answer is 304, without a body. */
        "If-None-Match": string;
        /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
        Position: string;
        /**
         * @description The campaign.
         * @example 1
         */
        CampaignPath: number;
        /**
         * @description The lead.
         * @example 1
         */
        LeadPath: number;
        /**
         * @description The beginning of the phone number, with or without its plus sign.
         * @example +1555
         */
        NumberSearch: string;
        /**
         * @description Only those that changed on this day (UTC) or later, or at this instant or later.
         * @example 2026-01-31
         */
        UpdatedFrom: string;
        /** @description From 1, which is the default; a page after the last one is empty. */
        Page: number;
        /** @description Items on a page. */
        PerPage100: number;
        /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
        After: string;
        /**
         * @description The delivery, its webhook-id.
         * @example 8199a6da-f234-5f31-87e3-6f71755ff78d
         */
        DeliveryPath: string;
        /** @description Items on a page. */
        PerPage15: number;
        /** @description Only those of this campaign. */
        LeadsCampaignId: number;
        /** @description Status; created after creation. */
        LeadsStatus: components["schemas"]["LeadStatus"];
        /**
         * @description The beginning of the phone number, with or without its plus sign.
         * @example +1555
         */
        LeadsPhoneNumber: string;
        /** @description The beginnings of words of the customer_name, email or phone number of the lead, or of one of its secondary contacts, whatever their case and accents; where several are given, one has them all. `Neil`, `O'Neil` and `oneil` find O'Neil. */
        LeadsSearch: string;
        /**
         * @description Only those that changed on this day (UTC) or later, or at this instant or later, also by a call, a secondary contact, your do-not-call list or the name of their campaign.
         * @example 2026-01-31
         */
        LeadsUpdatedFrom: string;
        /**
         * @description Only those created on this day (UTC) or later, or at this instant or later.
         * @example 2026-01-31
         */
        LeadsDateFrom: string;
        /**
         * @description Only those created on this day (UTC) or earlier, or at this instant or earlier. Keeps pages as they are while others are added.
         * @example 2026-01-31
         */
        LeadsDateTo: string;
        /** @description `csv`: RFC 4180 with a header line; `ndjson`: an object a line, as the list has it. */
        Format: components["schemas"]["ExportFormat"];
        /** @description CSV begins with a byte order mark, by which Excel knows UTF-8. */
        Bom: boolean;
        /**
         * @description The import.
         * @example 3f1d7c52-6c0e-4d0b-9d0a-5f6c1f6a2b10
         */
        ImportPath: string;
        /** @description Only those of this assistant. */
        AssistantId: number;
        /** @description Only those to this lead or secondary contact. */
        CallsLeadId: number;
        /** @description How the call ended. */
        CallsStatus: components["schemas"]["CallStatus"];
        /** @description Only those to leads of this campaign. */
        CallsCampaignId: number;
        /** @description Who called: the customer (inbound) or the assistant (outbound). */
        CallsDirection: components["schemas"]["CallDirection"];
        /**
         * @description The beginning of the customer’s phone number, the called one of an outbound call, with or without its plus sign.
         * @example +1555
         */
        CallsPhoneNumber: string;
        /** @description The beginnings of words of the customer_name, email or phone number of the lead or secondary contact, as they are now, whatever their case and accents; where several are given, one has them all. `Neil`, `O'Neil` and `oneil` find O'Neil. Digits alone are the beginning of the phone number of the call. */
        CallsSearch: string;
        /**
         * @description Only those ended on this day (UTC) or later, or at this instant or later.
         * @example 2026-01-31
         */
        CallsDateFrom: string;
        /**
         * @description Only those ended on this day (UTC) or earlier, or at this instant or earlier. Keeps pages as they are while others are added.
         * @example 2026-01-31
         */
        CallsDateTo: string;
        /**
         * @description The request.
         * @example c56a4180-65aa-42ec-a945-5fd21dec0538
         */
        PersonRequestPath: string;
        /** @description Only that of this call. */
        CallId: string;
        /** @description Where it stands. */
        Status: components["schemas"]["DeliveryStatus"];
        /** @description How the newest attempt ended. */
        Outcome: components["schemas"]["AttemptOutcome"];
        /** @description What the receiver answered to that attempt. */
        StatusCode: number;
        /**
         * @description Only those made on this day (UTC) or later, or at this instant or later.
         * @example 2026-01-31
         */
        DateFrom: string;
        /**
         * @description Only those made on this day (UTC) or earlier, or at this instant or earlier. Keeps pages as they are while others are added.
         * @example 2026-01-31
         */
        DateTo: string;
        /**
         * @description The projection.
         * @example leads
         */
        ProjectionName: string;
        /**
         * @description The delivery, the same over all tries.
         * @example 8199a6da-f234-5f31-87e3-6f71755ff78d
         */
        "webhook-id": string;
        /**
         * @description When this try was signed, in seconds since 1970. Refuse what is more than five minutes off.
         * @example 1769860873
         */
        "webhook-timestamp": number;
        /**
         * @description One or more signatures separated by spaces: `v1,` and the Base64 of HMAC-SHA256 over `webhook-id.webhook-timestamp.body`.
         * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
         */
        "webhook-signature": string;
        /**
         * @description Number of this try, from 1. Those that somebody asked for are numbered apart.
         * @example 1
         */
        "webhook-attempt": number;
    };
    requestBodies: never;
    headers: {
        /** @description Names the request in logs, events and webhooks: yours, or one made here. */
        Correlation: string;
        /** @description Requests that the user may make in a minute. */
        Limit: number;
        /** @description Requests that are left in this minute. */
        Remaining: number;
        /** @description Seconds until the count starts anew. */
        Reset: number;
        /** @description How to say who is asking, and why the token that came was refused (RFC 6750). */
        Challenge: string;
        /** @description Seconds to wait before the next try. */
        "Retry-After": number;
        /** @description Position in the log that all of the answer includes, also a 404 of a read; sent back with a GET, that answer is at least as new. */
        Position: string;
        /** @description Fields of the body, or query parameters, that nobody knows, percent-encoded, separated by commas; absent when there are none. */
        Ignored: string;
        /** @description What a body may be encoded by: nothing. */
        "Accept-Encoding": string;
        /** @description Names what is shown, for If-Match: the revision, or a digest for a lead and for the options of a webhook. An assistant whose phone number was released, or whose webhook is suspended or paused, has a digest of that behind its revision. */
        ETag: string;
        /** @description `pending` when reads do not show the change yet; absent otherwise. */
        Pending: string;
        /** @description `true` when this answer was given before, to the same Idempotency-Key. */
        Replayed: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    isLive: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It lives. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["Health"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    isReady: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is ready. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description It cannot do its work now, or is stopping. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-RateLimit-Limit": components["headers"]["Limit"];
                    "X-RateLimit-Remaining": components["headers"]["Remaining"];
                    "X-RateLimit-Reset": components["headers"]["Reset"];
                    "X-Read-Position": components["headers"]["Position"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "The service is not ready.",
                     *       "status": "failing"
                     *     }
                     */
                    "application/json": components["schemas"]["NotReady"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    createAssistant: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "assistant_name": "Renewals",
                 *       "voice_id": 1,
                 *       "language": "English",
                 *       "llm_model": "gpt-4o",
                 *       "calls_direction": "make",
                 *       "engine_type": "pipeline",
                 *       "timezone": "Europe/Amsterdam",
                 *       "initial_message": "Hello {customer_name}, this is about your subscription.",
                 *       "system_prompt": "You are a friendly agent who offers customers to renew their subscription.",
                 *       "max_call_duration": 300,
                 *       "is_webhook_active": true,
                 *       "webhook_url": "https://example.com/hooks/calls",
                 *       "variables": {
                 *         "company": "Example Ltd"
                 *       },
                 *       "post_call_schema": [
                 *         {
                 *           "name": "renewed",
                 *           "type": "bool",
                 *           "description": "Whether the customer renewed"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["AssistantInput"];
            };
        };
        responses: {
            201: components["responses"]["AssistantAnswer"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    getAssistant: {
        parameters: {
            query?: {
                /**
                 * @description As it was at this revision; one that it never had is not found.
                 * @example 0
                 */
                revision?: number;
            };
            header?: {
                /** @description The ETag of an earlier answer. While it is the present one, the answer is 304, without a body. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The assistant with all its settings. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": 1,
                     *         "name": "Renewals",
                     *         "status": "active",
                     *         "type": "outbound",
                     *         "mode": "pipeline",
                     *         "settings": {
                     *           "phone_number_id": null,
                     *           "endpoint_type": "vad",
                     *           "endpoint_sensitivity": 0.5,
                     *           "interrupt_sensitivity": 0.5,
                     *           "ambient_sound_volume": 0.5,
                     *           "post_call_evaluation": true,
                     *           "send_webhook_only_on_completed": true,
                     *           "include_recording_in_webhook": true,
                     *           "is_webhook_active": true,
                     *           "webhook_url": "https://example.com/hooks/calls",
                     *           "use_min_interrupt_words": false,
                     *           "min_interrupt_words": 0,
                     *           "variables": {
                     *             "company": "Example Ltd"
                     *           },
                     *           "post_call_schema": [
                     *             {
                     *               "name": "renewed",
                     *               "type": "bool",
                     *               "description": "Whether the customer renewed"
                     *             }
                     *           ],
                     *           "end_call_tool": {
                     *             "description": "When the customer says goodbye"
                     *           },
                     *           "llm_temperature": 0.1,
                     *           "voice_stability": 0.7,
                     *           "voice_similarity": 0.5,
                     *           "speech_speed": 1.1,
                     *           "allow_interruptions": true,
                     *           "filler_audios": false,
                     *           "re_engagement_interval": 30,
                     *           "max_call_duration": 240,
                     *           "max_silence_duration": 40,
                     *           "end_call_on_voicemail": true,
                     *           "noise_cancellation": true,
                     *           "record_call": false,
                     *           "who_speaks_first": "AI assistant",
                     *           "assistant_name": "Renewals",
                     *           "voice_id": 1,
                     *           "language": "English",
                     *           "llm_model": "gpt-4o",
                     *           "calls_direction": "make",
                     *           "engine_type": "pipeline",
                     *           "timezone": "Europe/Amsterdam",
                     *           "initial_message": "Hello {customer_name}, this is about your subscription.",
                     *           "system_prompt": "You are a friendly agent who offers customers to renew their subscription."
                     *         },
                     *         "revision": 1,
                     *         "created_at": "2026-01-31T11:55:00.000Z",
                     *         "updated_at": "2026-01-31T11:57:00.000Z",
                     *         "webhook": {
                     *           "state": "on",
                     *           "reason": null,
                     *           "since": null,
                     *           "until": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneAssistant"];
                };
            };
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    updateAssistant: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description The ETag that the change is based on, such as `"0"`. When it has changed since, nothing is done and the answer is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "speech_speed": 1.1,
                 *       "max_call_duration": 240,
                 *       "end_call_tool": {
                 *         "description": "When the customer says goodbye"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["AssistantChanges"];
            };
        };
        responses: {
            200: components["responses"]["AssistantAnswer"];
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    deleteAssistant: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description The ETag that the change is based on, such as `"0"`. When it has changed since, nothing is done and the answer is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Message"];
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    restoreAssistant: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description The ETag that the change is based on, such as `"0"`. When it has changed since, nothing is done and the answer is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "revision": 0
                 *     }
                 */
                "application/json": components["schemas"]["AssistantRestore"];
            };
        };
        responses: {
            200: components["responses"]["AssistantAnswer"];
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    createCampaign: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Spring renewals"
                 *     }
                 */
                "application/json": components["schemas"]["CampaignInput"];
            };
        };
        responses: {
            201: components["responses"]["CampaignAnswer"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    getCampaign: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer. While it is the present one, the answer is 304, without a body. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The campaign.
                 * @example 1
                 */
                id: components["parameters"]["CampaignPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaign. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": 1,
                     *         "name": "Spring renewals",
                     *         "created_at": "2026-01-31T11:50:00.000Z",
                     *         "updated_at": "2026-01-31T11:50:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneCampaign"];
                };
            };
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    updateCampaign: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description The ETag that the change is based on, such as `"0"`. When it has changed since, nothing is done and the answer is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The campaign.
                 * @example 1
                 */
                id: components["parameters"]["CampaignPath"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Spring renewals"
                 *     }
                 */
                "application/json": components["schemas"]["CampaignInput"];
            };
        };
        responses: {
            200: components["responses"]["CampaignAnswer"];
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    deleteCampaign: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description The ETag that the change is based on, such as `"0"`. When it has changed since, nothing is done and the answer is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The campaign.
                 * @example 1
                 */
                id: components["parameters"]["CampaignPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Message"];
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    addPhoneNumber: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "phone_number": "+15551230001"
                 *     }
                 */
                "application/json": components["schemas"]["PhoneNumberInput"];
            };
        };
        responses: {
            /** @description The phone number. */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Read-Position": components["headers"]["Position"];
                    "X-Read-Model": components["headers"]["Pending"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Phone number added successfully",
                     *       "data": {
                     *         "id": 1,
                     *         "phone_number": "+15551230001"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["PhoneNumberAnswer"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    releasePhoneNumber: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description The ETag that the change is based on, such as `"0"`. When it has changed since, nothing is done and the answer is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The phone number.
                 * @example 1
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is released. */
            200: {
                headers: {
                    "X-Read-Position": components["headers"]["Position"];
                    "X-Read-Model": components["headers"]["Pending"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Phone number released successfully"
                     *     }
                     */
                    "application/json": components["schemas"]["Message"];
                };
            };
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    createLead: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "phone_number": "+15551230100",
                 *       "campaign_id": 1,
                 *       "variables": {
                 *         "customer_name": "Ada Example",
                 *         "email": "ada@example.com",
                 *         "plan": "yearly"
                 *       },
                 *       "secondary_contacts": [
                 *         {
                 *           "phone_number": "+15551230101",
                 *           "variables": {
                 *             "customer_name": "Bob Example"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["LeadInput"];
            };
        };
        responses: {
            200: components["responses"]["LeadAnswer"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    getLead: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer. While it is the present one, the answer is 304, without a body. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The lead.
                 * @example 1
                 */
                id: components["parameters"]["LeadPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The lead with its secondary contacts. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": 1,
                     *         "campaign_id": 1,
                     *         "phone_number": "+15551230100",
                     *         "variables": {
                     *           "customer_name": "Ada Example",
                     *           "email": "ada@example.com",
                     *           "plan": "yearly"
                     *         },
                     *         "status": "created",
                     *         "created_at": "2026-01-31 11:58:00",
                     *         "updated_at": "2026-01-31 11:58:00",
                     *         "campaign": {
                     *           "id": 1,
                     *           "name": "Spring renewals"
                     *         },
                     *         "secondary_contacts": [
                     *           {
                     *             "id": 2,
                     *             "phone_number": "+15551230101",
                     *             "variables": {
                     *               "customer_name": "Bob Example",
                     *               "email": ""
                     *             },
                     *             "status": "created",
                     *             "created_at": "2026-01-31 11:58:00",
                     *             "updated_at": "2026-01-31 11:58:00"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneFoundLead"];
                };
            };
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    updateLead: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description The ETag that the change is based on, such as `"0"`. When it has changed since, nothing is done and the answer is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The lead.
                 * @example 1
                 */
                id: components["parameters"]["LeadPath"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "variables": {
                 *         "customer_name": "Ada Example",
                 *         "email": "ada@example.com",
                 *         "plan": "yearly"
                 *       },
                 *       "secondary_contacts": [
                 *         {
                 *           "id": 2,
                 *           "phone_number": "+15551230101",
                 *           "variables": {
                 *             "customer_name": "Bob Example"
                 *           }
                 *         }
                 *       ],
                 *       "status": "rescheduled"
                 *     }
                 */
                "application/json": components["schemas"]["LeadChanges"];
            };
        };
        responses: {
            200: components["responses"]["LeadAnswer"];
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    deleteLead: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description The ETag that the change is based on, such as `"0"`. When it has changed since, nothing is done and the answer is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The lead.
                 * @example 1
                 */
                id: components["parameters"]["LeadPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Message"];
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    importLeads: {
        parameters: {
            query?: {
                /**
                 * @description Campaign to create the leads for: with CSV, or what the JSON says as well.
                 * @example 1
                 */
                campaign_id?: number;
                /** @description As in the JSON; skip where neither says it. */
                if_duplicate?: components["schemas"]["DuplicateRule"];
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "campaign_id": 1,
                 *       "leads": [
                 *         {
                 *           "phone_number": "+15551230100",
                 *           "variables": {
                 *             "customer_name": "Ada Example",
                 *             "email": "ada@example.com"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["LeadImportInput"];
                /**
                 * @example phone_number,customer_name,email,plan
                 *     +15551230100,Ada Example,,yearly
                 */
                "text/csv": string;
            };
        };
        responses: {
            /** @description It is worked on. */
            202: {
                headers: {
                    "X-Read-Position": components["headers"]["Position"];
                    "X-Read-Model": components["headers"]["Pending"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Import started",
                     *       "data": {
                     *         "id": "3f1d7c52-6c0e-4d0b-9d0a-5f6c1f6a2b10",
                     *         "status": "processing"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["StartedLeadImport"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Nightly import",
                 *       "scopes": [
                 *         "read",
                 *         "write"
                 *       ],
                 *       "expires_at": "2099-12-31T23:00:00.000Z"
                 *     }
                 */
                "application/json": components["schemas"]["ApiKeyInput"];
            };
        };
        responses: {
            /** @description The key, shown this once. */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Read-Position": components["headers"]["Position"];
                    "X-Read-Model": components["headers"]["Pending"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "API key created successfully",
                     *       "data": {
                     *         "id": 1,
                     *         "name": "Nightly import",
                     *         "key": "rl_q3VXhZ0sEXAMPLE-EXAMPLE-EXAMPLE-EXAMPLE-35",
                     *         "prefix": "rl_q3VXhZ0s",
                     *         "scopes": [
                     *           "read",
                     *           "write"
                     *         ],
                     *         "expires_at": "2099-12-31T23:00:00.000Z",
                     *         "created_at": "2026-01-31T11:50:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedApiKeyAnswer"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description The ETag that the change is based on, such as `"0"`. When it has changed since, nothing is done and the answer is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The API key.
                 * @example 1
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is revoked. */
            200: {
                headers: {
                    "X-Read-Position": components["headers"]["Position"];
                    "X-Read-Model": components["headers"]["Pending"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "API key revoked successfully"
                     *     }
                     */
                    "application/json": components["schemas"]["Message"];
                };
            };
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    listBlacklist: {
        parameters: {
            query?: {
                /**
                 * @description The beginning of the phone number, with or without its plus sign.
                 * @example +1555
                 */
                search?: components["parameters"]["NumberSearch"];
                /**
                 * @description Only those that changed on this day (UTC) or later, or at this instant or later.
                 * @example 2026-01-31
                 */
                updated_from?: components["parameters"]["UpdatedFrom"];
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage100"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": 1,
                     *           "phone_number": "+15551230100",
                     *           "reason": "Asked not to be called",
                     *           "created_at": "2026-01-31T12:05:00.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 100,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["BlacklistEntryPage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    blacklistPhoneNumber: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "phone_number": "+15551230100",
                 *       "reason": "Asked not to be called"
                 *     }
                 */
                "application/json": components["schemas"]["BlacklistEntryInput"];
            };
        };
        responses: {
            200: components["responses"]["BlacklistEntryAnswer"];
            201: components["responses"]["BlacklistEntryAnswer"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    deleteBlacklistEntry: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description The ETag that the change is based on, such as `"0"`. When it has changed since, nothing is done and the answer is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The do-not-call entry.
                 * @example 1
                 */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["Message"];
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    exportPerson: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "phone_number": "+15551230100"
                 *     }
                 */
                "application/json": components["schemas"]["Person"];
            };
        };
        responses: {
            /** @description It is being made. */
            202: {
                headers: {
                    "X-Read-Position": components["headers"]["Position"];
                    "X-Read-Model": components["headers"]["Pending"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Export started",
                     *       "data": {
                     *         "id": "c56a4180-65aa-42ec-a945-5fd21dec0538",
                     *         "type": "export",
                     *         "status": "processing"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["BegunPersonRequestAnswer"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    erasePerson: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "phone_number": "+15551230100"
                 *     }
                 */
                "application/json": components["schemas"]["Person"];
            };
        };
        responses: {
            /** @description It is under way. */
            202: {
                headers: {
                    "X-Read-Position": components["headers"]["Position"];
                    "X-Read-Model": components["headers"]["Pending"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Erasure started",
                     *       "data": {
                     *         "id": "c56a4180-65aa-42ec-a945-5fd21dec0538",
                     *         "type": "erasure",
                     *         "status": "processing"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["BegunPersonRequestAnswer"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    completeCall: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The call, as the engine names it: 1 to 128 letters, digits, dots, underscores, tildes or hyphens.
                 * @example c-2026-01-31-0001
                 */
                call_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "assistant_id": 1,
                 *       "lead_id": 1,
                 *       "status": "completed",
                 *       "direction": "outbound",
                 *       "from": "+15551230001",
                 *       "to": "+15551230100",
                 *       "started_at": "2026-01-31T12:00:00.000Z",
                 *       "ended_at": "2026-01-31T12:01:12.500Z",
                 *       "duration": 72.5,
                 *       "recording_url": "https://recordings.example.com/c-2026-01-31-0001.mp3",
                 *       "transcript": [
                 *         {
                 *           "role": "assistant",
                 *           "text": "Hello Ada, this is about your subscription.",
                 *           "at": 0.4
                 *         },
                 *         {
                 *           "role": "customer",
                 *           "text": "Yes, please renew it.",
                 *           "at": 4.2
                 *         }
                 *       ],
                 *       "input_variables": {
                 *         "customer_name": "Ada Example",
                 *         "plan": "yearly"
                 *       },
                 *       "extracted_variables": {
                 *         "renewed": true
                 *       },
                 *       "evaluation": {
                 *         "score": 0.92,
                 *         "summary": "The customer renewed."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["CompletedCall"];
            };
        };
        responses: {
            /** @description The call is recorded; its webhook follows. */
            202: {
                headers: {
                    "X-Read-Position": components["headers"]["Position"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Call accepted"
                     *     }
                     */
                    "application/json": components["schemas"]["Message"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    redeliverWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The delivery, its webhook-id.
                 * @example 8199a6da-f234-5f31-87e3-6f71755ff78d
                 */
                id: components["parameters"]["DeliveryPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery with the attempt that waits for its turn. */
            202: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "The delivery is sent again",
                     *       "data": {
                     *         "id": "8199a6da-f234-5f31-87e3-6f71755ff78d",
                     *         "call_id": "c-2026-01-31-0001",
                     *         "assistant_id": 1,
                     *         "type": "call.completed",
                     *         "status": "delivered",
                     *         "reason": null,
                     *         "attempt_count": 1,
                     *         "next_attempt_at": null,
                     *         "created_at": "2026-01-31T12:01:13.060Z",
                     *         "url": "https://hooks.example.com/calls",
                     *         "last_error": null,
                     *         "attempts": [
                     *           {
                     *             "n": 1,
                     *             "trigger": "schedule",
                     *             "started_at": "2026-01-31T12:01:13.101Z",
                     *             "finished_at": "2026-01-31T12:01:13.260Z",
                     *             "outcome": "delivered",
                     *             "status_code": 204,
                     *             "duration_ms": 159,
                     *             "error": null,
                     *             "response_excerpt": ""
                     *           },
                     *           {
                     *             "n": 1,
                     *             "trigger": "manual",
                     *             "started_at": null,
                     *             "finished_at": null,
                     *             "outcome": null,
                     *             "status_code": null,
                     *             "duration_ms": null,
                     *             "error": null,
                     *             "response_excerpt": null
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AttemptAnswer"];
                };
            };
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    redeliverWebhooks: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ids": [
                 *         "8199a6da-f234-5f31-87e3-6f71755ff78d"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["RedeliverBody"];
            };
        };
        responses: {
            202: components["responses"]["RecoverAnswer"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The test delivery; read it again to see what came of it. */
            202: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "A test is sent",
                     *       "data": {
                     *         "id": "0b0f6b7a-3c1e-4d52-9a49-7f0c2b8e4d19",
                     *         "call_id": null,
                     *         "assistant_id": 1,
                     *         "type": "webhook.test",
                     *         "status": "scheduled",
                     *         "reason": null,
                     *         "attempt_count": 0,
                     *         "next_attempt_at": null,
                     *         "created_at": "2026-01-31T12:01:13.060Z",
                     *         "url": "https://hooks.example.com/calls",
                     *         "last_error": null,
                     *         "attempts": [
                     *           {
                     *             "n": 1,
                     *             "trigger": "test",
                     *             "started_at": null,
                     *             "finished_at": null,
                     *             "outcome": null,
                     *             "status_code": null,
                     *             "duration_ms": null,
                     *             "error": null,
                     *             "response_excerpt": null
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AttemptAnswer"];
                };
            };
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    resumeWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is not suspended any more. */
            200: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "The webhook is resumed",
                     *       "data": {
                     *         "resumed": 3
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ResumeAnswer"];
                };
            };
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlap_hours": 24
                 *     }
                 */
                "application/json": components["schemas"]["RotationBody"];
            };
        };
        responses: {
            /** @description The new secret, and the former one. */
            200: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDuZqNkKCZ7Zk=",
                     *         "previous": {
                     *           "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwHvPMJ0aSTxk=",
                     *           "expires_at": "2026-02-01T12:05:00.000Z"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookSecretAnswer"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    getAssistantWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its own secret, or yours. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDuZqNkKCZ7Zk=",
                     *         "previous": {
                     *           "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwHvPMJ0aSTxk=",
                     *           "expires_at": "2026-02-01T12:05:00.000Z"
                     *         },
                     *         "own": true
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AssistantSecretAnswer"];
                };
            };
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    rotateAssistantWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlap_hours": 24
                 *     }
                 */
                "application/json": components["schemas"]["RotationBody"];
            };
        };
        responses: {
            /** @description The new secret, and what signs beside it. */
            200: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDuZqNkKCZ7Zk=",
                     *         "previous": {
                     *           "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwHvPMJ0aSTxk=",
                     *           "expires_at": "2026-02-01T12:05:00.000Z"
                     *         },
                     *         "own": true
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AssistantSecretAnswer"];
                };
            };
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    deleteAssistantWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Your own secret, and what signs beside it. */
            200: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDuZqNkKCZ7Zk=",
                     *         "previous": {
                     *           "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwHvPMJ0aSTxk=",
                     *           "expires_at": "2026-02-01T12:05:00.000Z"
                     *         },
                     *         "own": false
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AssistantSecretAnswer"];
                };
            };
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    recoverWebhooks: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "since": "2026-01-31T12:00:00Z",
                 *       "statuses": [
                 *         "exhausted",
                 *         "skipped"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["RecoverBody"];
            };
        };
        responses: {
            202: components["responses"]["RecoverAnswer"];
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    getWebhookOptions: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of an earlier answer. While it is the present one, the answer is 304, without a body. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The options. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "headers": {
                     *           "authorization": "…75d3",
                     *           "X-Team": "…orth"
                     *         },
                     *         "max_per_second": 20
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneWebhookOptions"];
                };
            };
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    updateWebhookOptions: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters of your choice, such as a UUID. The same key and body give the first answer again instead of a second command, for 24 hours. */
                "Idempotency-Key"?: components["parameters"]["Key"];
                /** @description The ETag that the change is based on, such as `"0"`. When it has changed since, nothing is done and the answer is 412. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "headers": {
                 *         "authorization": "Bearer 3c469e9d6c5875d3",
                 *         "X-Team": "renewals-north"
                 *       },
                 *       "max_per_second": 20
                 *     }
                 */
                "application/json": components["schemas"]["WebhookOptionsInput"];
            };
        };
        responses: {
            /** @description The options from now on. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "Idempotent-Replayed": components["headers"]["Replayed"];
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "Webhook options updated successfully",
                     *       "data": {
                     *         "headers": {
                     *           "authorization": "…75d3",
                     *           "X-Team": "…orth"
                     *         },
                     *         "max_per_second": 20
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookOptionsAnswer"];
                };
            };
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listAssistants: {
        parameters: {
            query?: {
                /** @description A part of the name, whatever its case and accents. */
                name?: string;
                /** @description Current status. */
                status?: components["schemas"]["AssistantStatus"];
                /** @description inbound for calls_direction receive, outbound for make. */
                type?: components["schemas"]["AssistantType"];
                /** @description A part of the name, whatever its case and accents. */
                search?: string;
                /**
                 * @description Only those that changed on this day (UTC) or later, or at this instant or later, also because their phone number was released.
                 * @example 2026-01-31
                 */
                updated_from?: string;
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: number;
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": 1,
                     *           "name": "Renewals",
                     *           "status": "active",
                     *           "type": "outbound",
                     *           "mode": "pipeline"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 10,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AssistantSummaryPage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    getAssistantHistory: {
        parameters: {
            query?: {
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage15"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "revision": 1,
                     *           "event": "AssistantUpdated",
                     *           "at": "2026-01-31T11:57:00.000Z",
                     *           "changes": [
                     *             {
                     *               "field": "speech_speed",
                     *               "from": 1,
                     *               "to": 1.1
                     *             },
                     *             {
                     *               "field": "max_call_duration",
                     *               "from": 300,
                     *               "to": 240
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 15,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["HistoryEntryPage"];
                };
            };
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listLeads: {
        parameters: {
            query?: {
                /** @description Only those of this campaign. */
                campaign_id?: components["parameters"]["LeadsCampaignId"];
                /** @description Status; created after creation. */
                status?: components["parameters"]["LeadsStatus"];
                /**
                 * @description The beginning of the phone number, with or without its plus sign.
                 * @example +1555
                 */
                phone_number?: components["parameters"]["LeadsPhoneNumber"];
                /** @description The beginnings of words of the customer_name, email or phone number of the lead, or of one of its secondary contacts, whatever their case and accents; where several are given, one has them all. `Neil`, `O'Neil` and `oneil` find O'Neil. */
                search?: components["parameters"]["LeadsSearch"];
                /**
                 * @description Only those that changed on this day (UTC) or later, or at this instant or later, also by a call, a secondary contact, your do-not-call list or the name of their campaign.
                 * @example 2026-01-31
                 */
                updated_from?: components["parameters"]["LeadsUpdatedFrom"];
                /**
                 * @description Only those created on this day (UTC) or later, or at this instant or later.
                 * @example 2026-01-31
                 */
                date_from?: components["parameters"]["LeadsDateFrom"];
                /**
                 * @description Only those created on this day (UTC) or earlier, or at this instant or earlier. Keeps pages as they are while others are added.
                 * @example 2026-01-31
                 */
                date_to?: components["parameters"]["LeadsDateTo"];
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage15"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": 1,
                     *           "campaign_id": 1,
                     *           "phone_number": "+15551230100",
                     *           "variables": {
                     *             "customer_name": "Ada Example",
                     *             "email": "ada@example.com",
                     *             "plan": "yearly"
                     *           },
                     *           "status": "created",
                     *           "created_at": "2026-01-31 11:58:00",
                     *           "updated_at": "2026-01-31 11:58:00",
                     *           "campaign": {
                     *             "id": 1,
                     *             "name": "Spring renewals"
                     *           },
                     *           "secondary_contacts": [
                     *             {
                     *               "id": 2,
                     *               "phone_number": "+15551230101",
                     *               "variables": {
                     *                 "customer_name": "Bob Example",
                     *                 "email": ""
                     *               },
                     *               "status": "created",
                     *               "created_at": "2026-01-31 11:58:00",
                     *               "updated_at": "2026-01-31 11:58:00"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 15,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["LeadPage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    exportLeads: {
        parameters: {
            query?: {
                /** @description `csv`: RFC 4180 with a header line; `ndjson`: an object a line, as the list has it. */
                format?: components["parameters"]["Format"];
                /** @description CSV begins with a byte order mark, by which Excel knows UTF-8. */
                bom?: components["parameters"]["Bom"];
                /** @description Only those of this campaign. */
                campaign_id?: components["parameters"]["LeadsCampaignId"];
                /** @description Status; created after creation. */
                status?: components["parameters"]["LeadsStatus"];
                /**
                 * @description The beginning of the phone number, with or without its plus sign.
                 * @example +1555
                 */
                phone_number?: components["parameters"]["LeadsPhoneNumber"];
                /** @description The beginnings of words of the customer_name, email or phone number of the lead, or of one of its secondary contacts, whatever their case and accents; where several are given, one has them all. `Neil`, `O'Neil` and `oneil` find O'Neil. */
                search?: components["parameters"]["LeadsSearch"];
                /**
                 * @description Only those that changed on this day (UTC) or later, or at this instant or later, also by a call, a secondary contact, your do-not-call list or the name of their campaign.
                 * @example 2026-01-31
                 */
                updated_from?: components["parameters"]["LeadsUpdatedFrom"];
                /**
                 * @description Only those created on this day (UTC) or later, or at this instant or later.
                 * @example 2026-01-31
                 */
                date_from?: components["parameters"]["LeadsDateFrom"];
                /**
                 * @description Only those created on this day (UTC) or earlier, or at this instant or earlier. Keeps pages as they are while others are added.
                 * @example 2026-01-31
                 */
                date_to?: components["parameters"]["LeadsDateTo"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The leads. */
            200: {
                headers: {
                    /** @description That it is a file, and its name. */
                    "Content-Disposition"?: string;
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id,phone_number,customer_name,email,status,campaign_id,campaign_name,created_at,updated_at,variables,secondary_contacts
                     *     1,+15551230100,Ada Example,ada@example.com,created,1,Spring renewals,2026-01-31 11:58:00,2026-01-31 11:58:00,"{""plan"":""yearly""}","[{""id"":2,""phone_number"":""+15551230101"",""variables"":{""customer_name"":""Bob Example"",""email"":""""},""status"":""created"",""created_at"":""2026-01-31 11:58:00"",""updated_at"":""2026-01-31 11:58:00""}]"
                     */
                    "text/csv": string;
                    "application/x-ndjson": string;
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    getLeadImport: {
        parameters: {
            query?: never;
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The import.
                 * @example 3f1d7c52-6c0e-4d0b-9d0a-5f6c1f6a2b10
                 */
                id: components["parameters"]["ImportPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The import. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "3f1d7c52-6c0e-4d0b-9d0a-5f6c1f6a2b10",
                     *         "status": "completed",
                     *         "total": 3,
                     *         "processed": 3,
                     *         "created": 1,
                     *         "duplicates": 1,
                     *         "invalid": 1,
                     *         "reason": null,
                     *         "created_at": "2026-01-31T11:58:00.000Z",
                     *         "finished_at": "2026-01-31T11:58:02.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FoundLeadImport"];
                };
            };
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listLeadImports: {
        parameters: {
            query?: {
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage15"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "3f1d7c52-6c0e-4d0b-9d0a-5f6c1f6a2b10",
                     *           "status": "completed",
                     *           "total": 3,
                     *           "processed": 3,
                     *           "created": 1,
                     *           "duplicates": 1,
                     *           "invalid": 1,
                     *           "reason": null,
                     *           "created_at": "2026-01-31T11:58:00.000Z",
                     *           "finished_at": "2026-01-31T11:58:02.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 15,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["LeadImportPage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listLeadImportResults: {
        parameters: {
            query?: {
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage100"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
                /** @description CSV begins with a byte order mark, by which Excel knows UTF-8. */
                bom?: components["parameters"]["Bom"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The import.
                 * @example 3f1d7c52-6c0e-4d0b-9d0a-5f6c1f6a2b10
                 */
                id: components["parameters"]["ImportPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "row": 3,
                     *           "outcome": "invalid",
                     *           "lead_id": null,
                     *           "errors": {
                     *             "phone_number": [
                     *               "must be a phone number in E.164 format, such as +15551230001"
                     *             ]
                     *           }
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 100,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ImportedRowPage"];
                };
            };
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listCalls: {
        parameters: {
            query?: {
                /** @description Only those of this assistant. */
                assistant_id?: components["parameters"]["AssistantId"];
                /** @description Only those to this lead or secondary contact. */
                lead_id?: components["parameters"]["CallsLeadId"];
                /** @description How the call ended. */
                status?: components["parameters"]["CallsStatus"];
                /** @description Only those to leads of this campaign. */
                campaign_id?: components["parameters"]["CallsCampaignId"];
                /** @description Who called: the customer (inbound) or the assistant (outbound). */
                direction?: components["parameters"]["CallsDirection"];
                /**
                 * @description The beginning of the customer’s phone number, the called one of an outbound call, with or without its plus sign.
                 * @example +1555
                 */
                phone_number?: components["parameters"]["CallsPhoneNumber"];
                /** @description The beginnings of words of the customer_name, email or phone number of the lead or secondary contact, as they are now, whatever their case and accents; where several are given, one has them all. `Neil`, `O'Neil` and `oneil` find O'Neil. Digits alone are the beginning of the phone number of the call. */
                search?: components["parameters"]["CallsSearch"];
                /**
                 * @description Only those that changed on this day (UTC) or later, or at this instant or later.
                 * @example 2026-01-31
                 */
                updated_from?: components["parameters"]["UpdatedFrom"];
                /**
                 * @description Only those ended on this day (UTC) or later, or at this instant or later.
                 * @example 2026-01-31
                 */
                date_from?: components["parameters"]["CallsDateFrom"];
                /**
                 * @description Only those ended on this day (UTC) or earlier, or at this instant or earlier. Keeps pages as they are while others are added.
                 * @example 2026-01-31
                 */
                date_to?: components["parameters"]["CallsDateTo"];
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage15"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "call_id": "c-2026-01-31-0001",
                     *           "assistant_id": 1,
                     *           "lead_id": 1,
                     *           "lead": {
                     *             "id": 1
                     *           },
                     *           "status": "completed",
                     *           "direction": "outbound",
                     *           "from": "+15551230001",
                     *           "to": "+15551230100",
                     *           "started_at": "2026-01-31T12:00:00.000Z",
                     *           "ended_at": "2026-01-31T12:01:12.500Z",
                     *           "duration": 72.5
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 15,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CallSummaryPage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    getCall: {
        parameters: {
            query?: never;
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The call, as the engine names it.
                 * @example c-2026-01-31-0001
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The call with its transcript and its webhook. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "call_id": "c-2026-01-31-0001",
                     *         "assistant_id": 1,
                     *         "lead_id": 1,
                     *         "lead": {
                     *           "id": 1
                     *         },
                     *         "status": "completed",
                     *         "direction": "outbound",
                     *         "from": "+15551230001",
                     *         "to": "+15551230100",
                     *         "started_at": "2026-01-31T12:00:00.000Z",
                     *         "ended_at": "2026-01-31T12:01:12.500Z",
                     *         "duration": 72.5,
                     *         "recording_url": "https://recordings.example.com/c-2026-01-31-0001.mp3",
                     *         "transcript": [
                     *           {
                     *             "role": "assistant",
                     *             "text": "Hello Ada, this is about your subscription.",
                     *             "at": 0.4
                     *           },
                     *           {
                     *             "role": "customer",
                     *             "text": "Yes, please renew it.",
                     *             "at": 4.2
                     *           }
                     *         ],
                     *         "input_variables": {
                     *           "customer_name": "Ada Example",
                     *           "plan": "yearly"
                     *         },
                     *         "extracted_variables": {
                     *           "renewed": true
                     *         },
                     *         "evaluation": {
                     *           "score": 0.92,
                     *           "summary": "The customer renewed."
                     *         },
                     *         "deliveries": [
                     *           {
                     *             "id": "8199a6da-f234-5f31-87e3-6f71755ff78d",
                     *             "call_id": "c-2026-01-31-0001",
                     *             "assistant_id": 1,
                     *             "type": "call.completed",
                     *             "status": "delivered",
                     *             "reason": null,
                     *             "attempt_count": 1,
                     *             "next_attempt_at": null,
                     *             "created_at": "2026-01-31T12:01:13.060Z",
                     *             "url": "https://hooks.example.com/calls",
                     *             "last_error": null,
                     *             "attempts": [
                     *               {
                     *                 "n": 1,
                     *                 "trigger": "schedule",
                     *                 "started_at": "2026-01-31T12:01:13.101Z",
                     *                 "finished_at": "2026-01-31T12:01:13.260Z",
                     *                 "outcome": "delivered",
                     *                 "status_code": 204,
                     *                 "duration_ms": 159,
                     *                 "error": null,
                     *                 "response_excerpt": ""
                     *               }
                     *             ]
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneCall"];
                };
            };
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    exportCalls: {
        parameters: {
            query?: {
                /** @description `csv`: RFC 4180 with a header line; `ndjson`: an object a line, as the list has it. */
                format?: components["parameters"]["Format"];
                /** @description CSV begins with a byte order mark, by which Excel knows UTF-8. */
                bom?: components["parameters"]["Bom"];
                /** @description Only those of this assistant. */
                assistant_id?: components["parameters"]["AssistantId"];
                /** @description Only those to this lead or secondary contact. */
                lead_id?: components["parameters"]["CallsLeadId"];
                /** @description How the call ended. */
                status?: components["parameters"]["CallsStatus"];
                /** @description Only those to leads of this campaign. */
                campaign_id?: components["parameters"]["CallsCampaignId"];
                /** @description Who called: the customer (inbound) or the assistant (outbound). */
                direction?: components["parameters"]["CallsDirection"];
                /**
                 * @description The beginning of the customer’s phone number, the called one of an outbound call, with or without its plus sign.
                 * @example +1555
                 */
                phone_number?: components["parameters"]["CallsPhoneNumber"];
                /** @description The beginnings of words of the customer_name, email or phone number of the lead or secondary contact, as they are now, whatever their case and accents; where several are given, one has them all. `Neil`, `O'Neil` and `oneil` find O'Neil. Digits alone are the beginning of the phone number of the call. */
                search?: components["parameters"]["CallsSearch"];
                /**
                 * @description Only those that changed on this day (UTC) or later, or at this instant or later.
                 * @example 2026-01-31
                 */
                updated_from?: components["parameters"]["UpdatedFrom"];
                /**
                 * @description Only those ended on this day (UTC) or later, or at this instant or later.
                 * @example 2026-01-31
                 */
                date_from?: components["parameters"]["CallsDateFrom"];
                /**
                 * @description Only those ended on this day (UTC) or earlier, or at this instant or earlier. Keeps pages as they are while others are added.
                 * @example 2026-01-31
                 */
                date_to?: components["parameters"]["CallsDateTo"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The calls. */
            200: {
                headers: {
                    /** @description That it is a file, and its name. */
                    "Content-Disposition"?: string;
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example call_id,assistant_id,lead_id,primary_lead_id,status,direction,from,to,started_at,ended_at,duration
                     *     c-2026-01-31-0001,1,1,,completed,outbound,+15551230001,+15551230100,2026-01-31T12:00:00.000Z,2026-01-31T12:01:12.500Z,72.5
                     */
                    "text/csv": string;
                    "application/x-ndjson": string;
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    getDay: {
        parameters: {
            query?: never;
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The last 24 hours. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "calls": {
                     *           "hours": [
                     *             {
                     *               "hour": "2026-01-31T12:00:00.000Z",
                     *               "counts": {
                     *                 "completed": 41,
                     *                 "no-answer": 7
                     *               }
                     *             }
                     *           ],
                     *           "is_exact": true
                     *         },
                     *         "deliveries": {
                     *           "hours": [
                     *             {
                     *               "hour": "2026-01-31T12:00:00.000Z",
                     *               "counts": {
                     *                 "delivered": 40,
                     *                 "scheduled": 1
                     *               }
                     *             }
                     *           ],
                     *           "is_exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneOwnDay"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listVoices: {
        parameters: {
            query?: {
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage100"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": 1,
                     *           "name": "Amelia"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 100,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["VoicePage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listLanguages: {
        parameters: {
            query?: {
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage100"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "name": "English"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 100,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["LanguagePage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listModels: {
        parameters: {
            query?: {
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage100"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "name": "gpt-4o"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 100,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ModelPage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listCampaigns: {
        parameters: {
            query?: {
                /** @description The beginnings of words of the name, whatever their case and accents; where several are given, one has them all. `Neil`, `O'Neil` and `oneil` find O'Neil. */
                search?: string;
                /**
                 * @description Only those that changed on this day (UTC) or later, or at this instant or later.
                 * @example 2026-01-31
                 */
                updated_from?: components["parameters"]["UpdatedFrom"];
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage100"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": 1,
                     *           "name": "Spring renewals"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 100,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CampaignItemPage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listPhoneNumbers: {
        parameters: {
            query?: {
                /**
                 * @description The beginning of the phone number, with or without its plus sign.
                 * @example +1555
                 */
                search?: components["parameters"]["NumberSearch"];
                /**
                 * @description Only those that changed on this day (UTC) or later, or at this instant or later.
                 * @example 2026-01-31
                 */
                updated_from?: components["parameters"]["UpdatedFrom"];
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage100"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": 1,
                     *           "phone_number": "+15551230001"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 100,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["PhoneNumberPage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage100"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": 1,
                     *           "name": "Nightly import",
                     *           "prefix": "rl_q3VXhZ0s",
                     *           "scopes": [
                     *             "read",
                     *             "write"
                     *           ],
                     *           "expires_at": "2099-12-31T23:00:00.000Z",
                     *           "created_at": "2026-01-31T11:50:00.000Z",
                     *           "last_used_at": "2026-01-31T12:03:00.000Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 100,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyPage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    isBlacklisted: {
        parameters: {
            query: {
                /**
                 * @description The assistant that is to call.
                 * @example 1
                 */
                assistant_id: number;
            };
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description In E.164 format.
                 * @example +15551230001
                 */
                phone_number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether it is listed. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "blacklisted": true
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneListing"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    getPersonRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The request.
                 * @example c56a4180-65aa-42ec-a945-5fd21dec0538
                 */
                id: components["parameters"]["PersonRequestPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "c56a4180-65aa-42ec-a945-5fd21dec0538",
                     *         "type": "export",
                     *         "status": "completed",
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "finished_at": "2026-01-31T12:00:02.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OnePersonRequest"];
                };
            };
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    downloadPerson: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The request.
                 * @example c56a4180-65aa-42ec-a945-5fd21dec0538
                 */
                id: components["parameters"]["PersonRequestPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One JSON document. */
            200: {
                headers: {
                    /** @description That it is a file, and its name. */
                    "Content-Disposition"?: string;
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "phone_number": "+15551230100",
                     *       "exported_at": "2026-01-31T12:00:02.000Z",
                     *       "leads": [
                     *         {
                     *           "id": 1,
                     *           "phone_number": "+15551230100"
                     *         }
                     *       ],
                     *       "contacts": [],
                     *       "calls": [
                     *         {
                     *           "call_id": "c-2026-01-31-0001"
                     *         }
                     *       ],
                     *       "deliveries": [],
                     *       "blacklist_entry": null
                     *     }
                     */
                    "application/json": components["schemas"]["ExportedPerson"];
                };
            };
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user of the token. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "1",
                     *         "scopes": [
                     *           "read",
                     *           "write"
                     *         ],
                     *         "api_key": null,
                     *         "rate_limit_per_minute": 600
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneMe"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    getWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secret, made at the first call. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
                     *         "previous": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookSecretAnswer"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Only those of this assistant. */
                assistant_id?: components["parameters"]["AssistantId"];
                /** @description Only that of this call. */
                call_id?: components["parameters"]["CallId"];
                /** @description Where it stands. */
                status?: components["parameters"]["Status"];
                /** @description How the newest attempt ended. */
                outcome?: components["parameters"]["Outcome"];
                /** @description What the receiver answered to that attempt. */
                status_code?: components["parameters"]["StatusCode"];
                /**
                 * @description Only those made on this day (UTC) or later, or at this instant or later.
                 * @example 2026-01-31
                 */
                date_from?: components["parameters"]["DateFrom"];
                /**
                 * @description Only those made on this day (UTC) or earlier, or at this instant or earlier. Keeps pages as they are while others are added.
                 * @example 2026-01-31
                 */
                date_to?: components["parameters"]["DateTo"];
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage15"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "8199a6da-f234-5f31-87e3-6f71755ff78d",
                     *           "call_id": "c-2026-01-31-0001",
                     *           "assistant_id": 1,
                     *           "type": "call.completed",
                     *           "status": "delivered",
                     *           "reason": null,
                     *           "attempt_count": 1,
                     *           "next_attempt_at": null,
                     *           "created_at": "2026-01-31T12:01:13.060Z",
                     *           "url": "https://hooks.example.com/calls",
                     *           "last_error": null
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 15,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DeliverySummaryPage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The delivery, its webhook-id.
                 * @example 8199a6da-f234-5f31-87e3-6f71755ff78d
                 */
                id: components["parameters"]["DeliveryPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "8199a6da-f234-5f31-87e3-6f71755ff78d",
                     *         "call_id": "c-2026-01-31-0001",
                     *         "assistant_id": 1,
                     *         "type": "call.completed",
                     *         "status": "delivered",
                     *         "reason": null,
                     *         "attempt_count": 1,
                     *         "next_attempt_at": null,
                     *         "created_at": "2026-01-31T12:01:13.060Z",
                     *         "url": "https://hooks.example.com/calls",
                     *         "last_error": null,
                     *         "attempts": [
                     *           {
                     *             "n": 1,
                     *             "trigger": "schedule",
                     *             "started_at": "2026-01-31T12:01:13.101Z",
                     *             "finished_at": "2026-01-31T12:01:13.260Z",
                     *             "outcome": "delivered",
                     *             "status_code": 204,
                     *             "duration_ms": 159,
                     *             "error": null,
                     *             "response_excerpt": ""
                     *           }
                     *         ],
                     *         "request": {
                     *           "method": "POST",
                     *           "url": "https://hooks.example.com/calls",
                     *           "headers": {
                     *             "content-type": "application/json",
                     *             "user-agent": "Ringledger/0.1.0",
                     *             "webhook-id": "8199a6da-f234-5f31-87e3-6f71755ff78d",
                     *             "webhook-timestamp": "1769860873",
                     *             "webhook-attempt": "1"
                     *           },
                     *           "header_names": [
                     *             "authorization",
                     *             "X-Team"
                     *           ],
                     *           "body": "{\"type\":\"call.completed\",\"timestamp\":\"2026-01-31T12:01:13.042Z\",\"data\":{\"call_id\":\"c-2026-01-31-0001\"}}"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneDeliveryDetails"];
                };
            };
            404: components["responses"]["E404"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listWebhookNotices: {
        parameters: {
            query?: {
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: components["parameters"]["PerPage15"];
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description What an earlier answer said in this header: the answer is at least as new as that, or 503, also when nothing is there yet. What is no position is a 422. */
                "X-Read-Position"?: components["parameters"]["Position"];
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    "X-Read-Position": components["headers"]["Position"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": 7,
                     *           "type": "delivery_exhausted",
                     *           "assistant_id": 1,
                     *           "delivery_id": "8199a6da-f234-5f31-87e3-6f71755ff78d",
                     *           "reason": "attempts_used_up",
                     *           "at": "2026-02-03T15:20:44.120Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 15,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookNoticePage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listProjections: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "name": "leads",
                     *           "state": "running",
                     *           "problem": null,
                     *           "position": "48213",
                     *           "lag_events": 0,
                     *           "lag_is_exact": true,
                     *           "lag_seconds": 0,
                     *           "rate": 12.4,
                     *           "parked_streams": 0,
                     *           "generations": [
                     *             {
                     *               "projection": "leads",
                     *               "generation": 1,
                     *               "state": "active",
                     *               "complete": true,
                     *               "code_version": 3,
                     *               "present_version": 3,
                     *               "position": "48213",
                     *               "behind": "0",
                     *               "updated_at": "2026-01-31T12:05:00.000Z",
                     *               "owner": "host-1 4711 0b5f2c1d",
                     *               "paused_since": null,
                     *               "verified": null,
                     *               "rollback": null,
                     *               "due": null
                     *             }
                     *           ],
                     *           "action": null,
                     *           "offers": [
                     *             {
                     *               "action": "replay",
                     *               "why_not": null
                     *             },
                     *             {
                     *               "action": "rollback",
                     *               "why_not": "There is no retained generation of leads to go back to."
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AllProjection"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    actOnProjection: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The projection.
                 * @example leads
                 */
                name: components["parameters"]["ProjectionName"];
                /**
                 * @description One of replay, verify, rollback, drop, pause, resume.
                 * @example verify
                 */
                action: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "accept_differences": false
                 *     }
                 */
                "application/json": components["schemas"]["ProjectionActionInput"];
            };
        };
        responses: {
            /** @description It is begun: GET /ops/api/actions/{id} tells how it gets on. */
            202: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "7d7a9f43-2c0e-4b53-9a4e-1f0f6a1f8b20"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneBegunAction"];
                };
            };
            404: components["responses"]["E404"];
            409: components["responses"]["E409"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    closeBreaker: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The projection.
                 * @example leads
                 */
                name: components["parameters"]["ProjectionName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It goes on. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "leads goes on within seconds, and parks what it refuses."
                     *     }
                     */
                    "application/json": components["schemas"]["Done"];
                };
            };
            404: components["responses"]["E404"];
            409: components["responses"]["E409"];
            default: components["responses"]["Refused"];
        };
    };
    listProjectionActions: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The newest. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "7d7a9f43-2c0e-4b53-9a4e-1f0f6a1f8b20",
                     *           "action": "replay",
                     *           "projection": "leads",
                     *           "state": "done",
                     *           "progress": 1,
                     *           "message": "Replayed leads in 1.2 s; readers see generation 2 now.",
                     *           "began_at": "2026-01-31T12:05:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AllProjectionAction"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    getProjectionAction: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The action.
                 * @example 7d7a9f43-2c0e-4b53-9a4e-1f0f6a1f8b20
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The action. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "7d7a9f43-2c0e-4b53-9a4e-1f0f6a1f8b20",
                     *         "action": "replay",
                     *         "projection": "leads",
                     *         "state": "done",
                     *         "progress": 1,
                     *         "message": "Replayed leads in 1.2 s; readers see generation 2 now.",
                     *         "began_at": "2026-01-31T12:05:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneProjectionAction"];
                };
            };
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    listParked: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "projection": "leads",
                     *           "generation": 1,
                     *           "stream": "lead-1",
                     *           "events": 1,
                     *           "revision": "4",
                     *           "position": "48101",
                     *           "type": "LeadUpdated",
                     *           "error": "its data is malformed: status must be a text",
                     *           "since": "2026-01-31T12:05:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AllParkedStream"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    retryParked: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "projection": "leads",
                 *       "stream": "lead-1"
                 *     }
                 */
                "application/json": components["schemas"]["RetryParked"];
            };
        };
        responses: {
            /** @description None is parked any more. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "1 events of lead-1 went into leads (generation 1); none of its events is parked any more."
                     *     }
                     */
                    "application/json": components["schemas"]["Done"];
                };
            };
            404: components["responses"]["E404"];
            409: components["responses"]["E409"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    skipParked: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "projection": "leads",
                 *       "stream": "lead-1",
                 *       "revision": "4",
                 *       "reason": "Written by hand, and wrong."
                 *     }
                 */
                "application/json": components["schemas"]["SkipParked"];
            };
        };
        responses: {
            /** @description It is given up. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "leads skips lead-1@4 from now on, in rebuilds too. No event of the stream is parked any more."
                     *     }
                     */
                    "application/json": components["schemas"]["Done"];
                };
            };
            404: components["responses"]["E404"];
            409: components["responses"]["E409"];
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    listDeliveriesOfAll: {
        parameters: {
            query?: {
                /** @description The user, as the `sub` of the token. */
                user_id?: string;
                /** @description Only those of this assistant. */
                assistant_id?: components["parameters"]["AssistantId"];
                /** @description Only that of this call. */
                call_id?: components["parameters"]["CallId"];
                /** @description How the URL begins that its webhook goes to. */
                url?: string;
                /** @description Where it stands. */
                status?: components["parameters"]["Status"];
                /** @description Why it is held, exhausted, cancelled or skipped. */
                reason?: string;
                /** @description How the newest attempt ended. */
                outcome?: components["parameters"]["Outcome"];
                /** @description What the receiver answered to that attempt. */
                status_code?: components["parameters"]["StatusCode"];
                /**
                 * @description Only those made on this day (UTC) or later, or at this instant or later.
                 * @example 2026-01-31
                 */
                date_from?: components["parameters"]["DateFrom"];
                /**
                 * @description Only those made on this day (UTC) or earlier, or at this instant or earlier. Keeps pages as they are while others are added.
                 * @example 2026-01-31
                 */
                date_to?: components["parameters"]["DateTo"];
                /** @description From 1, which is the default; a page after the last one is empty. */
                page?: components["parameters"]["Page"];
                /** @description Items on a page. */
                per_page?: number;
                /** @description `meta.next` of the page before, instead of `page`: as fast at the end of a long list as at its beginning, and no item is missed or met twice while others are added. Empty for the first page. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page that was asked for. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "8199a6da-f234-5f31-87e3-6f71755ff78d",
                     *           "call_id": "c-2026-01-31-0001",
                     *           "assistant_id": 1,
                     *           "type": "call.completed",
                     *           "status": "delivered",
                     *           "reason": null,
                     *           "attempt_count": 1,
                     *           "next_attempt_at": null,
                     *           "created_at": "2026-01-31T12:01:13.060Z",
                     *           "url": "https://hooks.example.com/calls",
                     *           "last_error": null,
                     *           "user_id": "1"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "page": 1,
                     *         "per_page": 50,
                     *         "total": 1,
                     *         "last_page": 1,
                     *         "next": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryOfUserPage"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    getDeliveryOfAll: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The delivery, its webhook-id.
                 * @example 8199a6da-f234-5f31-87e3-6f71755ff78d
                 */
                id: components["parameters"]["DeliveryPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "8199a6da-f234-5f31-87e3-6f71755ff78d",
                     *         "call_id": "c-2026-01-31-0001",
                     *         "assistant_id": 1,
                     *         "type": "call.completed",
                     *         "status": "delivered",
                     *         "reason": null,
                     *         "attempt_count": 1,
                     *         "next_attempt_at": null,
                     *         "created_at": "2026-01-31T12:01:13.060Z",
                     *         "url": "https://hooks.example.com/calls",
                     *         "last_error": null,
                     *         "attempts": [
                     *           {
                     *             "n": 1,
                     *             "trigger": "schedule",
                     *             "started_at": "2026-01-31T12:01:13.101Z",
                     *             "finished_at": "2026-01-31T12:01:13.260Z",
                     *             "outcome": "delivered",
                     *             "status_code": 204,
                     *             "duration_ms": 159,
                     *             "error": null,
                     *             "response_excerpt": ""
                     *           }
                     *         ],
                     *         "request": {
                     *           "method": "POST",
                     *           "url": "https://hooks.example.com/calls",
                     *           "headers": {
                     *             "content-type": "application/json",
                     *             "user-agent": "Ringledger/0.1.0",
                     *             "webhook-id": "8199a6da-f234-5f31-87e3-6f71755ff78d",
                     *             "webhook-timestamp": "1769860873",
                     *             "webhook-attempt": "1"
                     *           },
                     *           "header_names": [
                     *             "authorization",
                     *             "X-Team"
                     *           ],
                     *           "body": "{\"type\":\"call.completed\",\"timestamp\":\"2026-01-31T12:01:13.042Z\",\"data\":{\"call_id\":\"c-2026-01-31-0001\"}}"
                     *         },
                     *         "user_id": "1"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneDeliveryOfUserDetails"];
                };
            };
            404: components["responses"]["E404"];
            default: components["responses"]["Refused"];
        };
    };
    redeliverOfAll: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The delivery, its webhook-id.
                 * @example 8199a6da-f234-5f31-87e3-6f71755ff78d
                 */
                id: components["parameters"]["DeliveryPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is asked for. */
            202: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "It is sent again, as soon as a worker has room for it."
                     *     }
                     */
                    "application/json": components["schemas"]["Done"];
                };
            };
            404: components["responses"]["E404"];
            409: components["responses"]["E409"];
            default: components["responses"]["Refused"];
        };
    };
    listTroubledWebhooks: {
        parameters: {
            query?: {
                /** @description suspended: nothing is sent until it resumes. failing: three attempts or more since the last success have failed. paused: its receiver asked for a pause, which ends by itself. */
                state?: components["schemas"]["TroubledState"];
            };
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "assistant_id": 1,
                     *           "user_id": "1",
                     *           "url": "https://hooks.example.com/calls",
                     *           "state": "failing",
                     *           "reason": null,
                     *           "since": "2026-01-31T12:05:00.000Z",
                     *           "until": null,
                     *           "last_error": "the receiver answered 500",
                     *           "waiting": 12
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AllTroubledWebhook"];
                };
            };
            422: components["responses"]["E422"];
            default: components["responses"]["Refused"];
        };
    };
    resumeWebhookOfAll: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path: {
                /**
                 * @description The assistant.
                 * @example 1
                 */
                id: components["parameters"]["AssistantPath"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is sent to. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "It is sent to again; 12 deliveries were held."
                     *     }
                     */
                    "application/json": components["schemas"]["Done"];
                };
            };
            409: components["responses"]["E409"];
            default: components["responses"]["Refused"];
        };
    };
    getWebhookQueue: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As of now. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "due": 0,
                     *         "in_flight": 2,
                     *         "held": 12,
                     *         "oldest_due": null,
                     *         "suspended_endpoints": 0,
                     *         "failing_endpoints": 1,
                     *         "unaccounted": 0
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneWebhookQueue"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    getLastDay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The last 24 hours, oldest first. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "attempts": [
                     *           {
                     *             "hour": "2026-01-31T12:05:00.000Z",
                     *             "attempts": {
                     *               "delivered": 420,
                     *               "rejected": 3
                     *             },
                     *             "latency": {
                     *               "p50": 0.08,
                     *               "p99": 1.2
                     *             }
                     *           }
                     *         ],
                     *         "share": 1,
                     *         "commands": [
                     *           {
                     *             "at": "2026-01-31T12:05:00.000Z",
                     *             "accepted": 812,
                     *             "refused": 4,
                     *             "failed": 0
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OneLastDay"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listWork: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of it. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "3f1d7c52-6c0e-4d0b-9d0a-5f6c1f6a2b10",
                     *           "kind": "lead-import",
                     *           "user_id": "1",
                     *           "state": "accepted",
                     *           "turns": 3,
                     *           "failures": 0,
                     *           "waits_for": null,
                     *           "last_error": null,
                     *           "created_at": "2026-01-31T12:05:00.000Z",
                     *           "due_at": "2026-01-31T12:05:00.000Z",
                     *           "finished_at": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AllWork"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "name": "WEBHOOK_RETENTION_DAYS",
                     *           "value": "90",
                     *           "is_set": false
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AllSetting"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    listChecks: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request in logs, events and webhooks: 1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced. */
                "X-Correlation-Id"?: components["parameters"]["Correlation"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was found. */
            200: {
                headers: {
                    "X-Correlation-Id": components["headers"]["Correlation"];
                    "X-Ignored-Fields": components["headers"]["Ignored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "part": "Postgres",
                     *           "check": "connections",
                     *           "level": "ok",
                     *           "found": "93 free; a process takes 52 at most"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AllFinding"];
                };
            };
            default: components["responses"]["Refused"];
        };
    };
    callCompleted: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The delivery, the same over all tries.
                 * @example 8199a6da-f234-5f31-87e3-6f71755ff78d
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description When this try was signed, in seconds since 1970. Refuse what is more than five minutes off.
                 * @example 1769860873
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /**
                 * @description One or more signatures separated by spaces: `v1,` and the Base64 of HMAC-SHA256 over `webhook-id.webhook-timestamp.body`.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description Number of this try, from 1. Those that somebody asked for are numbered apart.
                 * @example 1
                 */
                "webhook-attempt": components["parameters"]["webhook-attempt"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "call.completed",
                 *       "timestamp": "2026-01-31T12:01:13.042Z",
                 *       "data": {
                 *         "call_id": "c-2026-01-31-0001",
                 *         "status": "completed",
                 *         "direction": "outbound",
                 *         "from": "+15551230001",
                 *         "to": "+15551230100",
                 *         "started_at": "2026-01-31T12:00:00.000Z",
                 *         "ended_at": "2026-01-31T12:01:12.500Z",
                 *         "duration": 72.5,
                 *         "assistant": {
                 *           "id": 1,
                 *           "name": "Renewals"
                 *         },
                 *         "lead": {
                 *           "id": 1,
                 *           "phone_number": "+15551230100",
                 *           "variables": {
                 *             "customer_name": "Ada Example",
                 *             "email": "ada@example.com",
                 *             "plan": "yearly"
                 *           },
                 *           "status": "completed",
                 *           "campaign": {
                 *             "id": 1,
                 *             "name": "Spring renewals"
                 *           }
                 *         },
                 *         "transcript": "assistant: Hello Ada, this is about your subscription.\ncustomer: Yes, please renew it.",
                 *         "transcript_turns": [
                 *           {
                 *             "role": "assistant",
                 *             "text": "Hello Ada, this is about your subscription.",
                 *             "at": 0.4
                 *           },
                 *           {
                 *             "role": "customer",
                 *             "text": "Yes, please renew it.",
                 *             "at": 4.2
                 *           }
                 *         ],
                 *         "input_variables": {
                 *           "customer_name": "Ada Example",
                 *           "plan": "yearly"
                 *         },
                 *         "extracted_variables": {
                 *           "renewed": true
                 *         },
                 *         "evaluation": {
                 *           "score": 0.92,
                 *           "summary": "The customer renewed."
                 *         },
                 *         "recording_url": "https://recordings.example.com/c-2026-01-31-0001.mp3"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["WebhookPayload"];
            };
        };
        responses: {
            /** @description The receiver is gone: this delivery is cancelled, and the URL is suspended. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Tried again after 60 seconds at least, or after `Retry-After`. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "2XX": components["responses"]["E2XX"];
            /** @description Tried again later. Redirects are not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    webhookTest: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The delivery, the same over all tries.
                 * @example 8199a6da-f234-5f31-87e3-6f71755ff78d
                 */
                "webhook-id": components["parameters"]["webhook-id"];
                /**
                 * @description When this try was signed, in seconds since 1970. Refuse what is more than five minutes off.
                 * @example 1769860873
                 */
                "webhook-timestamp": components["parameters"]["webhook-timestamp"];
                /**
                 * @description One or more signatures separated by spaces: `v1,` and the Base64 of HMAC-SHA256 over `webhook-id.webhook-timestamp.body`.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": components["parameters"]["webhook-signature"];
                /**
                 * @description Number of this try, from 1. Those that somebody asked for are numbered apart.
                 * @example 1
                 */
                "webhook-attempt": components["parameters"]["webhook-attempt"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "webhook.test",
                 *       "timestamp": "2026-01-31T11:59:00.000Z",
                 *       "data": {
                 *         "call_id": "sample",
                 *         "status": "completed",
                 *         "direction": "outbound",
                 *         "from": "+15551230001",
                 *         "to": "+15551230100",
                 *         "started_at": "2026-01-31T12:00:00.000Z",
                 *         "ended_at": "2026-01-31T12:01:12.500Z",
                 *         "duration": 72.5,
                 *         "assistant": {
                 *           "id": 1,
                 *           "name": "Renewals"
                 *         },
                 *         "lead": {
                 *           "id": 1,
                 *           "phone_number": "+15551230100",
                 *           "variables": {
                 *             "customer_name": "Ada Example",
                 *             "email": "ada@example.com",
                 *             "plan": "yearly"
                 *           },
                 *           "status": "completed",
                 *           "campaign": {
                 *             "id": 1,
                 *             "name": "Spring renewals"
                 *           }
                 *         },
                 *         "transcript": "assistant: Hello Ada, this is about your subscription.\ncustomer: Yes, please renew it.",
                 *         "transcript_turns": [
                 *           {
                 *             "role": "assistant",
                 *             "text": "Hello Ada, this is about your subscription.",
                 *             "at": 0.4
                 *           },
                 *           {
                 *             "role": "customer",
                 *             "text": "Yes, please renew it.",
                 *             "at": 4.2
                 *           }
                 *         ],
                 *         "input_variables": {
                 *           "customer_name": "Ada Example",
                 *           "plan": "yearly"
                 *         },
                 *         "extracted_variables": {
                 *           "renewed": true
                 *         },
                 *         "evaluation": {
                 *           "score": 0.92,
                 *           "summary": "The customer renewed."
                 *         },
                 *         "recording_url": "https://recordings.example.com/c-2026-01-31-0001.mp3"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["WebhookTest"];
            };
        };
        responses: {
            "2XX": components["responses"]["E2XX"];
            /** @description Shown with the delivery; not tried again. Redirects are not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
