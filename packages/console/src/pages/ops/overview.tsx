import { Text } from '@mantine/core'
import { Page } from '../../blocks/page.js'

export function Overview () {
  return <Page title='Overview'><Text>The pages of operators are on their way.</Text></Page>
}
