// One delivery of any user.
import { useParams } from 'react-router'
import { client, useAction, useRead } from '../../api.js'
import { Confirm } from '../../blocks/confirm.js'
import { Loaded, Page } from '../../blocks/page.js'
import { Said, To } from '../../blocks/text.js'
import { Details } from '../delivery.js'

export function Delivery () {
  const { id = '' } = useParams()
  const path = { id }
  const query = useRead(['deliveries of all', id], () => client.GET('/ops/api/deliveries/{id}', { params: { path } }))
  const again = useAction(() => client.POST('/ops/api/deliveries/{id}/redeliver', { params: { path } }))
  return (
    <Page
      title={`Delivery ${id.slice(0, 8)}`}
      actions={
        <Confirm
          label='Send again' disabled={!query.data} act={() => again.mutateAsync(undefined)}
          words='It is sent once more, at once, with the same content, to the webhook URL that the assistant has now. Its schedule goes on as it was.'
        />
      }
    >
      <Loaded query={query}>
        {({ data }) => {
          const { user_id: user, call_id: call, assistant_id: assistant } = data
          return (
            <Details
              delivery={data}
              whose={{
                User: user && <Said>{user}</Said>,
                Call: call === null ? 'Test' : <Said>{call}</Said>,
                Assistant: assistant && <To to={`/deliveries?assistant_id=${assistant}`}>Assistant {assistant}</To>
              }}
            />
          )
        }}
      </Loaded>
    </Page>
  )
}
