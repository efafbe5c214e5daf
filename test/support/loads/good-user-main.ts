// The good user, in a separate process, so that the cost of the hostile clients themselves is not measured.
process.once('message', ({ url, token, campaign, times, from }: GoodUser) => {
  void leads(url, { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, campaign, times, from)
})

export interface GoodUser { url: string, token: string, campaign: number, times: number, from: number }

/** `took` is in milliseconds, one after the other. */
export interface Answered { statuses: number[], took: number[] }

async function leads (url: string, headers: Record<string, string>, campaign: number, times: number, from: number) {
  const answered: Answered = { statuses: [], took: [] }
  for (let n = from; n < from + times; n++) {
    const began = performance.now()
    const lead = JSON.stringify({ phone_number: `+1777${String(n).padStart(7, '0')}`, campaign_id: campaign })
    const answer = await fetch(`${url}/user/lead`, { method: 'POST', headers, body: lead })
    await answer.arrayBuffer()
    answered.took.push(performance.now() - began)
    answered.statuses.push(answer.status)
  }
  process.send?.(answered, () => process.disconnect())
}
