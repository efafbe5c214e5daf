// The frame of every page: who is signed in, where one can go, and the page itself.
import { AppShell, Burger, Button, Group, NavLink, Text, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { lazy, Suspense, useEffect } from 'react'
import { Link, Route, Routes, useLocation } from 'react-router'
import { dialogs } from './blocks/dialog.js'
import { Failure } from './blocks/failure.js'
import { Loading, Page } from './blocks/page.js'
import { To } from './blocks/text.js'
import { pages, type PageOfConsole } from './pages.js'
import { signOut, useSession, type Person } from './session.js'
import { SignIn } from './sign-in.js'

const components = new Map(pages.map((page) => [page, lazy(async () => ({ default: await page.load() }))]))

/** A page stays below the sign-in when a session expires, so that what was typed is there afterwards. */
export function Console () {
  const { token, person } = useSession()
  const isIn = token !== null && person !== null
  return (
    <>
      {person && <div key={person.id} inert={!isIn}><Shell person={person} /><div id={dialogs} /></div>}
      {!isIn && <SignIn />}
    </>
  )
}

function Shell ({ person: { role, mayChange } }: { person: Person }) {
  const [isOpen, { toggle, close }] = useDisclosure()
  const { pathname } = useLocation()
  useEffect(close, [close, pathname])
  const own = pages.filter((page) => page.role === role)
  return (
    <AppShell header={{ height: 56 }} navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !isOpen } }} padding='md'>
      <AppShell.Header>
        <Group h='100%' px='md' justify='space-between' wrap='nowrap'>
          <Group gap='sm' wrap='nowrap'>
            <Burger opened={isOpen} onClick={toggle} hiddenFrom='sm' size='sm' aria-label='Navigation' aria-expanded={isOpen} />
            <Text fw={700}>Ringledger</Text>
          </Group>
          <Group gap='xs' wrap='nowrap'>
            <ColourSwitch />
            <Button variant='default' size='xs' onClick={signOut}>Sign out</Button>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p='xs' aria-label='Pages' className={isOpen ? undefined : 'closed'}>
        {own.filter(({ name }) => name !== undefined).map(({ path, name }) => {
          const isHere = path === '' ? pathname === '/' : `${pathname}/`.startsWith(`/${path}/`)
          return <NavLink key={path} component={Link} to={`/${path}`} label={name} active={isHere} aria-current={isHere ? 'page' : undefined} />
        })}
      </AppShell.Navbar>
      <AppShell.Main>
        {!mayChange && <Text mb='sm' className='dim'>This API key may read, and change nothing.</Text>}
        <Failure key={pathname}><PageAt pages={own} /></Failure>
      </AppShell.Main>
    </AppShell>
  )
}

function PageAt ({ pages }: { pages: readonly PageOfConsole[] }) {
  return (
    <Suspense fallback={<Loading />}>
      <Routes>
        {pages.map((page) => {
          const Shown = components.get(page) ?? Nowhere
          return <Route key={page.path} path={`/${page.path}`} element={<Shown />} />
        })}
        <Route path='*' element={<Nowhere />} />
      </Routes>
    </Suspense>
  )
}

function Nowhere () {
  return <Page title='There is no such page'><Text>Go to the <To to='/'>overview</To>.</Text></Page>
}

function ColourSwitch () {
  const { setColorScheme } = useMantineColorScheme()
  const other = useComputedColorScheme() === 'dark' ? 'light' : 'dark'
  return (
    <Button variant='default' size='xs' aria-label={`Use ${other} colours`} onClick={() => setColorScheme(other)}>
      {other === 'dark' ? '☾' : '☀'}
    </Button>
  )
}
