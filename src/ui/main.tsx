/** Starts the page. */
import { render } from 'preact'
import { App } from './App.tsx'
import { listenForDrops } from './drops.ts'
import { listenToKeys } from './keys.ts'
import { complain, start } from './page.ts'
import { applyTheme, watchSystemTheme } from './theme.ts'

applyTheme()
watchSystemTheme()
listenToKeys()
listenForDrops()
render(<App />, document.getElementById('page')!)
start().catch(complain)
