// What a caller sends to create or rename a campaign.
import Type, { type Static } from 'typebox'
import { isBlank } from '../../domain/blank.js'
import { notBlank } from '../../domain/json.js'
import { problem, soundBody, soundFields, type Submitted } from '../../domain/validation.js'

export const CampaignBody = Type.Object({
  name: Type.String({
    minLength: 1, maxLength: 255, ...notBlank, description: 'Name of the campaign.', examples: ['Spring renewals']
  })
}, { title: 'CampaignInput' })
export type CampaignBody = Static<typeof CampaignBody>

export interface NewCampaign { type: 'create', name: string }
export interface CampaignChanges { type: 'rename', name: string }

/** @throws Rejection `invalid` */
export const validateNewCampaign = (submitted: Submitted<CampaignBody>): NewCampaign =>
  ({ type: 'create', name: nameIn(submitted) })

/** @throws Rejection `invalid` */
export const validateName = (submitted: Submitted<CampaignBody>): CampaignChanges =>
  ({ type: 'rename', name: nameIn(submitted) })

function nameIn (submitted: Submitted<CampaignBody>): string {
  const { name } = soundFields(submitted)
  return soundBody(submitted, [name !== undefined && isBlank(name) && problem('name', 'must not be blank')]).name
}
