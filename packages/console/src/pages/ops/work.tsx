// What is done in the background: imports, exports, erasures, recoveries.
import { client, useRead } from '../../api.js'
import { Rows } from '../../blocks/list.js'
import { Loaded, Page } from '../../blocks/page.js'
import { fromNow, plain, Said, State, Time } from '../../blocks/text.js'

export function Work () {
  const query = useRead(['work'], () => client.GET('/ops/api/work'))
  return (
    <Page title='Background'>
      <Loaded query={query}>
        {({ data }) => data.length === 0
          ? <div className='empty'>Nothing is under way, and nothing has failed within a day.</div>
          : (
            <Rows
              items={data}
              idOf={({ id }) => id}
              columns={[
                { name: 'Kind', show: ({ kind }) => plain(kind) },
                { name: 'User', show: ({ user_id }) => <Said>{user_id}</Said> },
                { name: 'State', show: ({ state, failures }) => <State colour={state === 'failed' || failures > 1 ? 'red' : 'blue'}>{state}</State> },
                { name: 'Started', show: ({ created_at }) => <Time at={created_at} /> },
                { name: 'Turns', show: ({ turns, failures }) => failures === 0 ? turns : `${turns}, the last ${failures} in vain` },
                { name: 'Next turn', show: ({ due_at, finished_at }) => finished_at === null ? fromNow(due_at) : '–' },
                { name: 'Waits for', show: ({ waits_for }) => <Said>{waits_for ?? '–'}</Said> },
                { name: 'Last error', show: ({ last_error }) => <Said>{last_error ?? '–'}</Said> }
              ]}
            />
            )}
      </Loaded>
    </Page>
  )
}
