// Several pages of one thing, side by side: links, so that each has an address.
import { Button, Group } from '@mantine/core'
import { Link, useLocation } from 'react-router'

export function Tabs ({ label, links }: { label: string, links: Record<string, string> }) {
  const { pathname } = useLocation()
  return (
    <Group component='nav' gap='xs' aria-label={label}>
      {Object.entries(links).map(([name, to]) => (
        <Button
          key={to} component={Link} to={to} size='xs' variant={pathname === to ? 'filled' : 'default'}
          aria-current={pathname === to ? 'page' : undefined}
        >
          {name}
        </Button>
      ))}
    </Group>
  )
}
