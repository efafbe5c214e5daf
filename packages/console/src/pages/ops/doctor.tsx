// What the doctor finds, and the settings of the process that answers.
import { Text } from '@mantine/core'
import { client, useRead, type Schemas } from '../../api.js'
import { Rows } from '../../blocks/list.js'
import { Loaded, Page, Section } from '../../blocks/page.js'
import { inZone, Said, State, To } from '../../blocks/text.js'

export const levels = { ok: 'green', skipped: 'grey', warning: 'orange', error: 'red' } as const
/** What a page shows of what a check found. */
const shownAt: Record<string, [to: string, words: string]> = {
  'parked events': ['/parked', 'See the parked events'],
  'circuit breakers': ['/projections', 'See the projections'],
  'failing webhooks': ['/webhooks', 'See the failing webhooks'],
  background: ['/work', 'See what runs in the background']
}

/** The doctor names commands, which a page saves. */
export function Mend ({ finding: { check, level, mend } }: { finding: Schemas['Finding'] }) {
  const [to, words] = shownAt[check] ?? []
  if (to === undefined || level === 'ok') return <Said>{mend ?? '–'}</Said>
  return <To to={to}>{words}</To>
}

const slowMs = 30_000

export function Doctor () {
  const checks = useRead(['checks'], () => client.GET('/ops/api/checks'), { pollMs: slowMs })
  const settings = useRead(['settings'], () => client.GET('/ops/api/settings'), { pollMs: false })
  return (
    <Page title='Doctor and settings'>
      <Section title='Checks'>
        <Loaded query={checks} rows={12}>
          {({ data }) => (
            <Rows
              items={data}
              idOf={({ part, check }) => `${part} ${check}`}
              columns={[
                { name: 'Part', show: ({ part }) => part },
                { name: 'Check', show: ({ check }) => check },
                { name: 'Level', show: ({ level }) => <State colour={levels[level]}>{level}</State> },
                { name: 'Found', show: ({ found }) => <Said>{inZone(found)}</Said> },
                { name: 'What mends it', show: (finding) => <Mend finding={finding} /> }
              ]}
            />
          )}
        </Loaded>
      </Section>
      <Section title='Settings'>
        <Text size='sm' className='dim'>The process that answers shows its own. Secrets are hidden, and a URL is cut to its origin.</Text>
        <Loaded query={settings} rows={12}>
          {({ data }) => (
            <Rows
              items={data}
              idOf={({ name }) => name}
              columns={[
                { name: 'Setting', show: ({ name }) => name },
                { name: 'Value', show: ({ value, is_set: isSet }) => <Said>{value || (isSet ? 'set, and secret' : '–')}</Said> },
                { name: 'From', show: ({ is_set: isSet }) => isSet ? 'the environment' : 'the default' }
              ]}
            />
          )}
        </Loaded>
      </Section>
    </Page>
  )
}
