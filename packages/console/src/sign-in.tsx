// Asks for an API key or a token. The address stays what it is, so that who signs in comes back to where they were.
import { Alert, Button, Paper, PasswordInput, Text, Title } from '@mantine/core'
import { focusManager } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { inWords, personOf, queries, Refused } from './api.js'
import { Entry, focusHeading } from './blocks/page.js'
import { signIn, signOut, useSession } from './session.js'

const why = {
  expired: 'Your session has expired. Sign in again to go on where you were.',
  'signed out': 'You have signed out.'
}

export function SignIn () {
  const { token, person: former, ended } = useSession()
  const [before] = useState(() => ({ title: document.title, focused: document.activeElement }))
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isRunning, setRunning] = useState(false)
  const enter = async (given: string) => {
    setRunning(true)
    setProblem(undefined)
    try {
      const person = await personOf(given)
      if (person.id !== former?.id) queries.clear() // nobody sees what somebody else has read
      signIn(given, person)
    } catch (error) {
      const isRefused = error instanceof Refused && error.status === 401
      if (token !== null) signOut()
      if (!isRefused) setText(given) // of a link: it can be tried again
      setProblem(isRefused ? 'This is not valid, or has expired.' : inWords(error))
      setRunning(false)
    }
  }
  useEffect(() => {
    if (former === null) queries.clear()
    document.title = 'Sign in · Ringledger'
    focusManager.setFocused(false) // a page that waits reads nothing
    return () => {
      focusManager.setFocused(undefined)
      document.title = before.title
      if (before.focused instanceof HTMLElement) before.focused.focus()
      if (document.activeElement === document.body) focusHeading({ preventScroll: true })
    }
  }, [])
  useEffect(() => {
    if (token !== null) void enter(token) // by a link
  }, [token])
  return (
    <main className='cover'>
      <Paper withBorder p='lg' m='auto' maw={420} w='100%'>
        <Entry act={() => void enter(text.trim())}>
          <Title order={1} size='h3'>Sign in to Ringledger</Title>
          {ended && !problem && <Alert color='blue' variant='outline' role='status' title={why[ended]} />}
          <PasswordInput
            label='API key or token' description='A key begins with rl_. It is kept until you close this tab.'
            value={text} onChange={({ currentTarget }) => setText(currentTarget.value)}
            error={problem} autoFocus autoComplete='off' spellCheck={false}
            visibilityToggleButtonProps={{ 'aria-label': 'Show what is typed' }}
          />
          <Button type='submit' loading={isRunning} disabled={text.trim() === ''}>Sign in</Button>
          <Text size='sm' className='dim'>
            On your own computer, <code>npm start</code> prints a link that signs in, and{' '}
            <code>ringledger token</code> makes tokens.
          </Text>
        </Entry>
      </Paper>
    </main>
  )
}
