// A button that first says what it will do. What cannot be undone asks for a word to be typed.
import { Alert, Button, Group, Text, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { inWords } from '../api.js'
import { DialogButton, type Opener } from './dialog.js'
import { Entry } from './page.js'

interface ConfirmProps extends Opener {
  /** What it will do. */
  words: ReactNode
  /** What must be typed before it can be done. */
  typed?: string
  isDangerous?: boolean
  act: () => Promise<unknown>
}

export function Confirm ({ label, words, typed, isDangerous = false, act, ...button }: ConfirmProps) {
  return (
    <DialogButton label={label} {...button}>
      {(close) => <Question {...{ label, words, typed, isDangerous, act, close }} />}
    </DialogButton>
  )
}

type QuestionProps = Pick<ConfirmProps, 'label' | 'words' | 'act'> &
  { typed: string | undefined, isDangerous: boolean, close: () => void }

function Question ({ label, words, typed, isDangerous, act, close }: QuestionProps) {
  const [text, setText] = useState('')
  const [error, setError] = useState<string>()
  const [isRunning, setRunning] = useState(false)
  const run = async () => {
    setRunning(true)
    try {
      await act()
      close()
    } catch (refused) {
      setError(inWords(refused))
    } finally {
      setRunning(false)
    }
  }
  return (
    <Entry act={() => void run()}>
      <Text component='div'>{words}</Text>
      {error !== undefined && <Alert color='red' variant='outline' role='alert' title={error} />}
      {typed !== undefined && (
        <TextInput
          label={`Type ${typed} to confirm`} value={text} data-autofocus autoComplete='off'
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
      )}
      <Group justify='end'>
        <Button variant='default' onClick={close}>Cancel</Button>
        <Button
          type='submit' color={isDangerous ? 'red' : 'blue'} loading={isRunning}
          disabled={typed !== undefined && text.trim() !== typed}
        >
          {label}
        </Button>
      </Group>
    </Entry>
  )
}
