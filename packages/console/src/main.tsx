// Starts the console in the browser.
import '@mantine/core/styles.css'
import './console.css'
import { createTheme, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { HashRouter } from 'react-router'
import { queries } from './api.js'
import { Notices } from './blocks/notices.js'
import { Console } from './console.js'
import { takeTokenFromAddress } from './session.js'

takeTokenFromAddress()
addEventListener('hashchange', takeTokenFromAddress)

// Darker than usual, so that white words on it can be read.
const theme = createTheme({ primaryShade: { light: 8, dark: 8 }, respectReducedMotion: true, cursorType: 'pointer' })

createRoot(document.getElementById('console') ?? document.body).render(
  <MantineProvider theme={theme} defaultColorScheme='auto'>
    <QueryClientProvider client={queries}>
      <HashRouter><Console /></HashRouter>
    </QueryClientProvider>
    <Notices />
  </MantineProvider>
)
