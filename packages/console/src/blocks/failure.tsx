// What stands in the place of a page that cannot be loaded, or fails.
import { Alert, Button } from '@mantine/core'
import { Component, type ReactNode } from 'react'

export class Failure extends Component<{ children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError () {
    return { hasFailed: true }
  }

  override render () {
    if (!this.state.hasFailed) return this.props.children
    return (
      <Alert color='red' variant='outline' role='alert' title='This page cannot be shown. Check your connection.'>
        <Button size='xs' variant='default' onClick={() => location.reload()}>Try again</Button>
      </Alert>
    )
  }
}
