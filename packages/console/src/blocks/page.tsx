// A page: its heading, what it shows while it loads, and what it says when that fails.
import { Alert, Button, Group, Skeleton, Stack, Title } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect, useRef, type FormEvent, type ReactNode } from 'react'
import { useLocation } from 'react-router'
import { inWords, Refused } from '../api.js'
import { Said, To } from './text.js'

let isFirst = true

export const focusHeading = (options?: FocusOptions) => document.querySelector('h1')?.focus(options)

interface PageProps {
  title: string
  /** Its title is not known at first, and may be long: it takes one line, and on a phone all of it. */
  isNamed?: boolean
  /** Also while it loads, so that they stay in their place. */
  actions?: ReactNode
  children: ReactNode
}

/** The heading is the name of the tab, and takes the focus when somebody comes from another page. */
export function Page ({ title, isNamed = false, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => { document.title = `${title} · Ringledger` }, [title])
  useEffect(() => {
    if (!isFirst) heading.current?.focus()
    isFirst = false
  }, [])
  return (
    <Stack>
      <Group justify='space-between' align='start'>
        <Title
          order={1} size='h2' ref={heading} tabIndex={-1} className='heading' {...(isNamed && { 'data-named': true, title })}
        >
          <Said>{title}</Said>
        </Title>
        {actions && <Group gap='xs'>{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}

export function Section ({ title, actions, children }: { title: string, actions?: ReactNode, children: ReactNode }) {
  return (
    <section>
      <Group justify='space-between' mb='xs'>
        <Title order={2} size='h4'>{title}</Title>
        {actions && <Group gap='xs'>{actions}</Group>}
      </Group>
      {children}
    </section>
  )
}

export function Loading ({ rows = 5 }: { rows?: number }) {
  return (
    <Stack gap='sm' role='status' aria-label='Loading'>
      {Array.from({ length: rows }, (_, index) => <Skeleton key={index} height={28} />)}
    </Stack>
  )
}

/** What was read; until then grey bars, and when that fails a sentence and what can be done about it. */
export function Loaded<Data> (
  { query, rows = 5, children }: { query: UseQueryResult<Data>, rows?: number, children: (data: Data) => ReactNode }
) {
  const { data, error, isFetching, refetch } = query
  const { pathname } = useLocation()
  const status = error instanceof Refused ? error.status : undefined
  if (data === undefined && error === null) return <Loading rows={rows} />
  return (
    <>
      {error !== null && (
        <Alert color='red' variant='outline' title={inWords(error)} mb='md'>
          {status === 404 && <To to={`/${pathname.split('/', 2)[1]}`}>Go to the list</To>}
          {status !== 404 && status !== 403 && (
            <Button size='xs' variant='default' loading={isFetching} onClick={() => void refetch()}>Try again</Button>
          )}
        </Alert>
      )}
      {data !== undefined && children(data)}
    </>
  )
}

/** Takes the key Enter. */
export function Entry ({ act, children }: { act: () => void, children: ReactNode }) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    act()
  }
  return <form onSubmit={submit} noValidate><Stack>{children}</Stack></form>
}

/** Pairs of a name and what it is. */
export function Facts ({ facts }: { facts: Record<string, ReactNode> }) {
  return (
    <dl className='facts'>
      {Object.entries(facts).map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value ?? '–'}</dd></div>)}
    </dl>
  )
}
