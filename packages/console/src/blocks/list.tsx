// A list of the API: filters and place are in the address, so that a link and the way back lead to the same rows. On a
// phone each row is a card.
import type { Answered } from '@ringledger/client'
import { Button, Checkbox, Group, NativeSelect, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useSearchParams } from 'react-router'
import { Refused, useRead } from '../api.js'
import type { Options } from './fields.js'
import { focusHeading, Loaded } from './page.js'
import { inSentences } from './text.js'

export interface PageOf<Item> { data: Item[], meta: { next: string | null, total?: number, total_is_exact?: boolean } }

interface Filter {
  /** Of the query string. */
  field: string
  label: string
  /** One of these; else a text. */
  options?: Options
  type?: 'date'
}

export interface Column<Item> { name: string, show: (item: Item) => ReactNode }

interface ListProps<Item> {
  /** Where it is kept while another page is shown. */
  name: string
  ask: (query: object) => Promise<Answered<PageOf<Item>>>
  columns: readonly Column<Item>[]
  idOf: (item: Item) => string | number
  /** What to do where there is nothing yet. */
  empty: ReactNode
  filters?: readonly Filter[]
  /** What can be done with several rows that are marked. */
  bulk?: Bulk<Item>
}

interface Bulk<Item> {
  /** Which row a mark is of. */
  nameOf: (item: Item) => string
  actions: (ids: string[], clear: () => void) => ReactNode
}

const perPage = 25

export function List<Item> ({ name, ask, columns, idOf, empty, filters = [], bulk }: ListProps<Item>) {
  const [address, setAddress] = useSearchParams()
  const asked = Object.fromEntries(address)
  const query = useRead([name, asked], () => ask({ ...asked, per_page: perPage }))
  const errors = query.error instanceof Refused ? query.error.fields : {}
  const [marked, setMarked] = useState<string[]>([])
  const marks = bulk && { marked, setMarked, nameOf: bulk.nameOf }
  const isFiltered = filters.some(({ field }) => address.has(field))
  const go = (after?: string) => {
    setAddress((present) => changed(present, 'after', after))
    focusHeading() // and so to the top
  }
  return (
    <Stack gap='md'>
      {filters.length > 0 && <Filters filters={filters} errors={errors} />}
      {bulk && marked.length > 0 && <Group>{bulk.actions(marked, () => setMarked([]))}</Group>}
      <Loaded query={query} rows={8}>
        {({ data, meta }) => data.length === 0
          ? <Nothing isFiltered={isFiltered} clear={() => setAddress({})}>{empty}</Nothing>
          : (
            <>
              {marks && <MarkAll {...marks} ids={data.map((item) => String(idOf(item)))} />}
              <Rows {...{ items: data, columns, idOf }} {...(marks && { marks })} />
              <Group justify='space-between'>
                <Text size='sm' className='dim'>{meta.total !== undefined && `${countOf(meta)} in all`}</Text>
                <Group gap='xs'>
                  {address.has('after') && <Button variant='default' onClick={() => go()}>First page</Button>}
                  {meta.next !== null && <Button variant='default' onClick={() => go(meta.next ?? '')}>Next page</Button>}
                </Group>
              </Group>
            </>
            )}
      </Loaded>
    </Stack>
  )
}

/** Such as "3" and "More than 10,000". */
export const countOf = ({ total = 0, total_is_exact: isExact }: PageOf<unknown>['meta']) =>
  `${isExact === false ? 'More than ' : ''}${total.toLocaleString()}`

/** Another filter begins at the first page. */
function changed (present: URLSearchParams, field: string, value: string | undefined): URLSearchParams {
  const next = new URLSearchParams(present)
  next.delete('after')
  if (value) next.set(field, value)
  else next.delete(field)
  return next
}

function Filters ({ filters, errors }: { filters: readonly Filter[], errors: Record<string, string[]> }) {
  const [address, setAddress] = useSearchParams()
  const set = (field: string, value: string) =>
    setAddress((present) => changed(present, field, value), { replace: true })
  return (
    <div className='filters' role='search'>
      {filters.map(({ field, label, options, type }) => options
        ? (
          <NativeSelect
            key={field} label={label} value={address.get(field) ?? ''} data={[{ value: '', label: 'All' }, ...options]}
            error={inSentences(errors[field])} onChange={({ currentTarget }) => set(field, currentTarget.value)}
          />
          )
        : (
          <TextFilter
            key={field} label={label} type={type ?? 'search'} text={address.get(field) ?? ''}
            error={inSentences(errors[field])} change={(text) => set(field, text)}
          />
          ))}
    </div>
  )
}

interface TextFilterProps {
  label: string
  type: string
  text: string
  error: string | undefined
  change: (text: string) => void
}

/** It shows what is in the address, but never while somebody types. */
function TextFilter ({ text, change, ...props }: TextFilterProps) {
  const input = useRef<HTMLInputElement>(null)
  const changeSoon = useDebouncedCallback(change, 300)
  useEffect(() => {
    if (input.current && input.current !== document.activeElement) input.current.value = text
  }, [text])
  return (
    <TextInput
      {...props} ref={input} defaultValue={text}
      onChange={({ currentTarget }) => changeSoon(currentTarget.value.trim())}
    />
  )
}

function Nothing ({ isFiltered, clear, children }: { isFiltered: boolean, clear: () => void, children: ReactNode }) {
  if (!isFiltered) return <Text component='div' className='empty'>{children}</Text>
  return (
    <Group className='empty'>
      <Text>Nothing matches these filters.</Text>
      <Button variant='default' size='xs' onClick={clear}>Show all</Button>
    </Group>
  )
}

interface Marks { marked: string[], setMarked: (ids: string[]) => void }

const toggled = (marked: string[], ids: string[], isMarked: boolean) =>
  [...marked.filter((each) => !ids.includes(each)), ...(isMarked ? ids : [])]

/** Of the page that is shown; marks of others stay. */
function MarkAll ({ ids, marked, setMarked }: Marks & { ids: string[] }) {
  const count = ids.filter((id) => marked.includes(id)).length
  return (
    <Checkbox
      label='Mark all of this page' checked={count === ids.length} indeterminate={count > 0 && count < ids.length}
      onChange={({ currentTarget }) => setMarked(toggled(marked, ids, currentTarget.checked))}
    />
  )
}

type RowsProps<Item> = Pick<ListProps<Item>, 'columns' | 'idOf'> &
  { items: readonly Item[], marks?: Marks & { nameOf: (item: Item) => string } }

export function Rows<Item> ({ items, columns, idOf, marks }: RowsProps<Item>) {
  return (
    <Table className='rows' verticalSpacing='xs' highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          {marks && <Table.Th><span className='unseen'>Marked</span></Table.Th>}
          {columns.map(({ name }) => <Table.Th key={name}>{name}</Table.Th>)}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => {
          const id = String(idOf(item))
          return (
            <Table.Tr key={id}>
              {marks && (
                <Table.Td data-label='Mark'>
                  <Checkbox
                    aria-label={`Mark ${marks.nameOf(item)}`} checked={marks.marked.includes(id)}
                    onChange={(event) => marks.setMarked(toggled(marks.marked, [id], event.currentTarget.checked))}
                  />
                </Table.Td>
              )}
              {columns.map(({ name, show }) => <Table.Td key={name} data-label={name}>{show(item)}</Table.Td>)}
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </Table>
  )
}
