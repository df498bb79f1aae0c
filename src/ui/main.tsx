/** Entry point of the page. */
import { render } from 'preact'
import { App } from './App.tsx'
import { takeKey } from './data/key.ts'
import { listenToKeys } from './keys.ts'
import { loadLazyPart } from './lazy.tsx'
import { countHosts, setUrlOpener, showError, start } from './page.ts'
import { followAddress } from './page-address.ts'
import { applyTheme, watchSystemTheme } from './theme.ts'

takeKey()
// The link was opened in a tab that has the page already: all that it shows is another user's now.
addEventListener('hashchange', () => takeKey() && location.reload())
applyTheme()
watchSystemTheme()
listenToKeys()
listenForDrops()
setUrlOpener(async (url) => (await loadLazyPart()).openRemote(url))
render(<App />, document.getElementById('page')!)
begin().catch(showError)

function follow(): Promise<void> {
  return followAddress(loadLazyPart)
}

/** Opens the incident in this file; otherwise shows what the server has. */
async function begin(): Promise<void> {
  if (document.getElementById('incident') === null) return start().then(follow).then(countHosts)
  const { openEmbeddedIncident } = await loadLazyPart()
  await openEmbeddedIncident()
  return follow()
}

/** Opens files dropped anywhere on the page. */
function listenForDrops(): void {
  addEventListener('dragover', (event) => {
    event.preventDefault()
    document.body.classList.add('dropping')
  })
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) document.body.classList.remove('dropping')
  })
  addEventListener('drop', (event) => {
    event.preventDefault()
    document.body.classList.remove('dropping')
    const files = [...(event.dataTransfer?.files ?? [])]
    if (files.length === 0) return
    loadLazyPart()
      .then(({ openFiles }) => openFiles(files))
      .catch(showError)
  })
}
