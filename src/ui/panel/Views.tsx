/** Views: kept by this browser, shared as an address, read from and written as PCP's view files. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { download, fileName } from '../chart/export.ts'
import {
  addChart,
  complain,
  forgetView,
  openKey,
  savedViews,
  saveView,
  say,
  shareAddress,
  sources,
  view,
} from '../page.ts'
import { hexColor } from '../theme.ts'
import { GRIDS } from '../view/grids.ts'
import { OVERVIEW } from '../view/overview.ts'
import { readViewFile, writeViewFile } from '../view/pmchart.ts'
import type { View } from '../view/view.ts'
import { Icon } from './Icon.tsx'

/** Views there are without being kept. */
const OURS: readonly View[] = [OVERVIEW, GRIDS]

/** Lists them; a click shows one. */
export function Views(): ComponentChild {
  const name = useSignal('')
  const saveAs = (event: Event): void => {
    event.preventDefault()
    const wanted = name.value.trim() || view.value.name
    saveView(wanted)
    say(`${wanted} is kept by this browser`)
    name.value = ''
  }
  return (
    <div class="views">
      <ul>
        {[...OURS, ...savedViews.value].map((one, i) => (
          <li key={`${i} ${one.name}`} class="row">
            <button
              type="button"
              class={`leaf${one.name === view.value.name ? ' on' : ''}`}
              onClick={() => (view.value = one)}
            >
              {one.name} <small>{one.charts.length === 1 ? '1 chart' : `${one.charts.length} charts`}</small>
            </button>
            {i >= OURS.length && (
              <button
                type="button"
                class="danger"
                aria-label={`Forget ${one.name}`}
                onClick={() => forgetView(one.name)}
              >
                <Icon name="close" />
              </button>
            )}
          </li>
        ))}
        <li>
          <button type="button" class="leaf" onClick={() => (view.value = { name: 'New view', charts: [] })}>
            An empty page
          </button>
        </li>
      </ul>
      <form onSubmit={saveAs}>
        <input
          aria-label="Name of the view"
          placeholder={view.value.name}
          value={name.value}
          onInput={({ currentTarget }) => (name.value = currentTarget.value)}
        />
        <button type="submit" class="primary">
          Keep
        </button>
      </form>
      <p class="actions">
        <button type="button" onClick={share}>
          Copy the address
        </button>
        <button type="button" onClick={writeFile}>
          Save as a view file
        </button>
        <label class="button">
          Read a view file
          <input
            type="file"
            hidden
            onChange={({ currentTarget }) => readFile(currentTarget.files?.[0]).catch(complain)}
          />
        </label>
        <button type="button" onClick={() => addChart('New chart', [])}>
          Add an empty chart
        </button>
      </p>
    </div>
  )
}

/** Puts the address of what is shown where it can be copied from, and into the clipboard where that is allowed. */
function share(): void {
  const address = shareAddress()
  history.replaceState(null, '', address)
  navigator.clipboard?.writeText(address).then(
    () => say('The address of this page is in the clipboard'),
    () => say('The address of this page now says what is shown'),
  ) ?? say('The address of this page now says what is shown')
}

function writeFile(): void {
  const { name, charts } = view.value
  const { text, leftOut } = writeViewFile(name, charts, hexColor)
  download(fileName(name, 'view'), new Blob([text], { type: 'text/plain' }))
  if (leftOut > 0) say(`A view file has no place for expressions: ${leftOut} plots were left out`)
}

async function readFile(file: File | undefined): Promise<void> {
  if (file === undefined) return
  const { charts, tabs, hosts, mistakes } = readViewFile(await file.text())
  const [mistake] = mistakes
  if (charts.length > 0) view.value = { name: tabs[0] ?? file.name, charts }
  for (const host of hosts) await openKey(`host:${host}`)
  if (mistake !== undefined) say(`${file.name}[${mistake.line}] ${mistake.message}`, true)
  else if (hosts.every((host) => sources.value.has(`host:${host}`))) say(`${file.name} is shown`)
}
