/** Starts the page. */
import { render } from 'preact'
import { App } from './App.tsx'
import { takeKey } from './data/key.ts'
import { listenForDrops } from './drops.ts'
import { listenToKeys } from './keys.ts'
import { complain, start } from './page.ts'
import { applyTheme, watchSystemTheme } from './theme.ts'

takeKey()
applyTheme()
watchSystemTheme()
listenToKeys()
listenForDrops()
render(<App />, document.getElementById('page')!)
start().catch(complain)
