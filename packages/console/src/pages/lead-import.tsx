// A file of leads: dropped, looked at, sent, and what became of each row.
import { Alert, Box, Button, FileButton, Group, Progress, Stack, Text } from '@mantine/core'
import { useRef, useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { client, useRead, type Schemas } from '../api.js'
import { Download } from '../blocks/download.js'
import { notify } from '../blocks/notices.js'
import { ApiForm, given, Inputs, shown, type Field } from '../blocks/form.js'
import { List, Rows, type Column } from '../blocks/list.js'
import { Facts, Loaded, Loading, Page, Section } from '../blocks/page.js'
import { Said, State, Time, To } from '../blocks/text.js'
import { lists, useCampaignOptions } from '../lists.js'
import { countRows, failedRows, fileToSend, previewOf, type Preview } from './csv.js'

const importColumns: Column<Schemas['LeadImport']>[] = [
  { name: 'Rows', show: ({ processed, total }) => `${processed.toLocaleString()} of ${total.toLocaleString()}` },
  { name: 'New leads', show: ({ created }) => created.toLocaleString() },
  { name: 'Already there', show: ({ duplicates }) => duplicates.toLocaleString() },
  { name: 'Refused', show: ({ invalid }) => invalid.toLocaleString() }
]

const types = '.csv,.tsv,.txt,text/csv'
const asCsv = { 'content-type': 'text/csv' }

/** The API does not keep the rows: they are in the file that was sent from this tab. */
const sent = new Map<string, Blob>()

/** A file may be gone, or be a folder. */
const unlessUnread = (take: (file: File) => Promise<void>) => (file: File | null | undefined) => {
  if (file) take(file).catch(() => notify('This file cannot be read.', true))
}

export function ImportLeads () {
  const [chosen, setChosen] = useState<{ file: File, preview: Preview }>()
  const reset = useRef<() => void>(null)
  const take = unlessUnread(async (file) => {
    const copy = await fileToSend(file)
    setChosen({ file: copy, preview: await previewOf(copy) })
    reset.current?.() // the same file may be chosen again once it is mended
  })
  return (
    <Page title='Import leads'>
      <div
        className='drop'
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault()
          take(event.dataTransfer.files[0])
        }}
      >
        <Stack align='center' gap='xs'>
          <Text>Drop a CSV file here, or</Text>
          <FileButton resetRef={reset} onChange={take} accept={types} inputProps={{ 'aria-label': 'File of leads' }}>
            {(props) => <Button {...props} variant='default'>Choose a file</Button>}
          </FileButton>
          <Text size='sm' className='dim'>
            The first line names the columns: phone_number, customer_name, email; every other column becomes a variable.
            At most 100,000 rows and 64 MiB.
          </Text>
        </Stack>
      </div>
      {chosen && <Chosen key={`${chosen.file.name} ${chosen.file.lastModified}`} {...chosen} />}
      <Section title='Imports of the last 30 days'>
        <List
          name='imports'
          ask={lists.imports}
          idOf={({ id }) => id}
          columns={[
            { name: 'Started', show: ({ id, created_at }) => <To to={`/leads/import/${id}`}><Time at={created_at} /></To> },
            { name: 'Status', show: ({ status }) => <State>{status}</State> },
            ...importColumns
          ]}
          empty='There is none yet. Drop a file above.'
        />
      </Section>
    </Page>
  )
}

function Chosen ({ file, preview: { columns, rows, problem } }: { file: File, preview: Preview }) {
  const navigate = useNavigate()
  const campaigns = useCampaignOptions()
  const fields: Field[] = [
    { name: 'campaign_id', label: 'Campaign', kind: 'number', isRequired: true, options: campaigns },
    {
      name: 'if_duplicate',
      label: 'Numbers that the campaign has already',
      usual: 'skip',
      options: [{ value: 'skip', label: 'Leave them out' }, { value: 'allow', label: 'Add them again' }]
    }
  ]
  return (
    <>
      <Section title={file.name}>
        <Text mb='xs'>{(file.size / 1024).toLocaleString(undefined, { maximumFractionDigits: 1 })} KiB</Text>
        {problem !== undefined
          ? <Alert color='red' variant='outline' role='alert' title={problem} />
          : <Rows
              items={columns.map((column, index) => ({ ...column, sample: rows.map((cells) => cells[index]).filter(Boolean).join(' · ') }))}
              idOf={({ name }) => name}
              columns={[
                { name: 'Column', show: ({ name }) => <Said>{name}</Said> },
                { name: 'Becomes', show: ({ becomes }) => <Said>{becomes}</Said> },
                { name: 'First rows', show: ({ sample }) => <Said>{sample}</Said> }
              ]}
            />}
      </Section>
      {problem === undefined && (
        <ApiForm
          initial={shown(fields)} button='Start the import'
          save={(values) => client.POST('/user/leads/import', {
            params: { query: given(fields, values) },
            headers: asCsv,
            body: file as never,
            bodySerializer: (body: unknown) => body as Blob
          })}
          saved={({ data }) => {
            sent.set(data.id, file)
            void navigate(`/leads/import/${data.id}`)
          }}
        >
          {(form) => <Inputs fields={fields} form={form} />}
        </ApiForm>
      )}
    </>
  )
}

const quickMs = 1_000

export function LeadImport () {
  const { id = '' } = useParams()
  const path = { id }
  const query = useRead(['imports', id], () => client.GET('/user/lead-import/{id}', { params: { path } }), {
    pollMs: (found) => found?.data.status === 'processing' ? quickMs : false
  })
  return (
    <Page title='Import of leads' actions={query.data && <Download label='Download all results' file='import.csv' ask={() => resultsOf(id)} />}>
      <Loaded query={query}>
        {({ data }) => (
          <>
            <Progressed found={data} />
            <Section title='What failed'><Box mih={100}><Failed {...data} /></Box></Section>
          </>
        )}
      </Loaded>
      <Section title='Rows'>
        <List
          name={`imports/${id}/rows`}
          ask={(query) => lists.results(id, query)}
          idOf={({ row }) => row}
          columns={[
            { name: 'Row', show: ({ row }) => row },
            { name: 'Outcome', show: ({ outcome }) => <State>{outcome}</State> },
            { name: 'Lead', show: ({ lead_id }) => lead_id === null ? '–' : <To to={`/leads/${lead_id}`}>Lead {lead_id}</To> },
            { name: 'Why', show: ({ errors }) => <Said>{Object.entries(errors ?? {}).map(([field, reasons]) => `${field} ${reasons.join(', ')}`).join('\n') || '–'}</Said> }
          ]}
          empty={query.data?.data.status === 'processing' ? 'No row is done yet.' : <Loading rows={1} />}
        />
      </Section>
    </Page>
  )
}

const resultsOf = (id: string) =>
  client.GET('/user/lead-import/{id}/results', { params: { path: { id } }, headers: { accept: 'text/csv' }, parseAs: 'blob' })

/** Rows to mend and to import again. */
function Failed ({ id, status, total, created, duplicates }: Schemas['LeadImport']) {
  const [file, setFile] = useState(sent.get(id))
  const take = unlessUnread(async (chosen) => {
    const rows = await countRows(chosen)
    if (rows === total) setFile(chosen)
    else notify(`This file has ${rows.toLocaleString()} row${rows === 1 ? '' : 's'}, and the import has ${total.toLocaleString()}.`, true)
  })
  if (status === 'processing') return <Text>Rows that fail are offered here as a file when the import has ended.</Text>
  if (created + duplicates === total) return <Text>No row failed.</Text>
  return (
    <>
      <Text mb='xs'>
        {file
          ? 'The file has each row as you sent it, with its line and what is wrong. Mend the rows, and import that file.'
          : 'The file has the number of each row, and what is wrong with it. Choose the file that you have imported to have the rows themselves in it.'}
      </Text>
      <Group gap='xs'>
        <Download label='Download what failed' file='import-failed.csv' ask={() => resultsOf(id)} change={(found) => failedRows(found, file)} />
        {!file && (
          <FileButton onChange={take} accept={types} inputProps={{ 'aria-label': 'File that you have imported' }}>
            {(props) => <Button {...props} variant='default'>Choose the file</Button>}
          </FileButton>
        )}
      </Group>
    </>
  )
}

function Progressed ({ found }: { found: Schemas['LeadImport'] }) {
  const { status, total, processed, reason, created_at, finished_at } = found
  const share = total === 0 ? 100 : 100 * processed / total
  return (
    <>
      <Progress.Root size='lg'>
        <Progress.Section value={share} aria-label={`${processed} of ${total} rows`} striped={status === 'processing'} />
      </Progress.Root>
      {reason !== null && <Alert color='red' variant='outline' role='alert' title={reason} />}
      <Facts
        facts={{
          Status: <State>{status}</State>,
          ...Object.fromEntries(importColumns.map(({ name, show }) => [name, show(found)])),
          Started: <Time at={created_at} />,
          Ended: <Time at={finished_at} />
        }}
      />
      <Group>{status !== 'processing' && <To to='/leads'>See all leads</To>}</Group>
    </>
  )
}
