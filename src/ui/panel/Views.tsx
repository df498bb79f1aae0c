/** The Views panel: save views in this browser, share them as links or files, read and write PCP view files. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { download, fileName } from '../chart/export.ts'
import { IncidentForm } from '../incident/IncidentForm.tsx'
import {
  currentSource,
  intervalSec,
  openKeys,
  savedViews,
  showError,
  showNotice,
  shownKeys,
  sources,
  view,
} from '../page.ts'
import { shownState } from '../page-address.ts'
import { time } from '../time/control.ts'
import { toAddress } from '../view/address.ts'
import { BUILT_IN_VIEWS, isBuiltInName } from '../view/built-in.ts'
import { readViewFile, type ViewMistake } from '../view/pmchart.ts'
import { PMCHART_VIEWS } from '../view/pmchart-views.ts'
import { writeViewFile } from '../view/pmchart-write.ts'
import { fromViewFile } from '../view/received.ts'
import { toViewFile } from '../view/share.ts'
import { hostKey, type View } from '../view/view.ts'
import { hexColor } from './ChartEditor.tsx'
import { excerptAt } from './ExpressionField.tsx'
import { addChart } from './edit-view.ts'
import { Menu } from './Menu.tsx'

/** Some programs truncate longer links. */
const LONG_ADDRESS = 8000

/** Mistakes found in a file. */
interface Problems {
  readonly file: string
  readonly mistakes: readonly ViewMistake[]
}

/** Renders the panel. A click on a view opens it. */
export function Views(): ComponentChild {
  const problems = useSignal<Problems | undefined>(undefined)
  const read = async (file: File): Promise<void> => {
    problems.value = undefined
    problems.value = await readFile(file)
  }
  return (
    <div class="views">
      <ul>
        {BUILT_IN_VIEWS.map((one) => (
          <Entry key={one.name} view={one} isOurs />
        ))}
        {savedViews.views.value.map((one) => (
          <Entry key={`kept ${one.name}`} view={one} isOurs={false} />
        ))}
        <li>
          <button type="button" class="leaf" onClick={() => (view.value = { name: 'New view', charts: [] })}>
            New empty view
          </button>
        </li>
      </ul>
      <PmchartViews />
      <KeepForm />
      <p class="actions">
        <button type="button" onClick={() => share().catch(showError)}>
          Copy link
        </button>
        <button type="button" onClick={writeOwn}>
          Save to file
        </button>
        <button type="button" onClick={writeFile} title="PCP view file, for pmchart">
          Save for pmchart
        </button>
        <label class="button file">
          Open view file
          <input
            type="file"
            onChange={({ currentTarget }) => {
              const file = currentTarget.files?.[0]
              currentTarget.value = '' // so that the same file can be opened again
              if (file !== undefined) read(file).catch(showError)
            }}
          />
        </label>
        <button type="button" onClick={() => addChart('New chart', [])}>
          Add empty chart
        </button>
      </p>
      <IncidentForm />
      {problems.value !== undefined && <Mistakes {...problems.value} />}
    </div>
  )
}

/** Lists the views of pmchart under their names there. They are never the start view, as they are not in the first load. */
function PmchartViews(): ComponentChild {
  return (
    <details>
      <summary>Views of pmchart</summary>
      <ul aria-label="Views of pmchart">
        {PMCHART_VIEWS.map(({ view: one, page }) => (
          <li key={page}>
            <button
              type="button"
              class={`leaf${one.name === view.value.name ? ' on' : ''}`}
              onClick={() => (view.value = one)}
            >
              {one.name.replace(' (pmchart)', '')}{' '}
              <small>{one.charts.map(({ title }) => title).join(', ')}</small>
            </button>
          </li>
        ))}
      </ul>
    </details>
  )
}

/** A view and its menu. */
function Entry({ view: one, isOurs }: { readonly view: View; readonly isOurs: boolean }): ComponentChild {
  const isRenaming = useSignal(false)
  const { name } = one
  const isOpening = name === (savedViews.startView.value ?? BUILT_IN_VIEWS[0]!.name)
  if (isRenaming.value) return <RenameForm name={name} onDone={() => (isRenaming.value = false)} />
  return (
    <li class="row">
      <button
        type="button"
        class={`leaf${name === view.value.name ? ' on' : ''}`}
        onClick={() => (view.value = one)}
      >
        {name}{' '}
        <small>
          {one.charts.length === 1 ? '1 chart' : `${one.charts.length} charts`}
          {isOpening && ', start view'}
        </small>
      </button>
      {!(isOurs && isOpening) && (
        <Menu
          label={`Menu for view ${name}`}
          items={[
            {
              text: isOpening ? 'Do not use as start view' : 'Use as start view',
              action: () =>
                attempt(() =>
                  savedViews.setStartView(isOpening || name === BUILT_IN_VIEWS[0]!.name ? undefined : name),
                ),
            },
            ...(isOurs
              ? []
              : [
                  { text: 'Rename …', action: () => (isRenaming.value = true) },
                  {
                    text: 'Delete',
                    isDanger: true,
                    action: () =>
                      attempt(() => {
                        savedViews.delete(name)
                        showNotice(`Deleted ${name}`)
                      }),
                  },
                ]),
          ]}
        />
      )}
    </li>
  )
}

/** Saves the current view under a name. */
function KeepForm(): ComponentChild {
  const typed = useSignal('')
  const own = isBuiltInName(view.value.name) ? '' : view.value.name
  const name = typed.value.trim() || own
  const isThere = savedViews.views.value.some((one) => one.name === name)
  const keep = (event: Event): void => {
    event.preventDefault()
    if (name === '') return
    if (isBuiltInName(name)) {
      showNotice(`${name} is a built-in view; choose another name`, true)
      return
    }
    view.value = { ...view.value, name }
    typed.value = ''
    attempt(() => {
      savedViews.save(view.value)
      showNotice(`Saved ${name} in this browser`)
    })
  }
  return (
    <form onSubmit={keep}>
      <input
        aria-label="View name"
        placeholder={own || 'View name'}
        maxLength={200}
        required={own === ''}
        value={typed.value}
        onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
      />
      <button type="submit" class="primary">
        {isThere ? 'Replace' : 'Save'}
      </button>
    </form>
  )
}

function RenameForm({
  name,
  onDone,
}: {
  readonly name: string
  readonly onDone: () => void
}): ComponentChild {
  const typed = useSignal(name)
  const rename = (event: Event): void => {
    event.preventDefault()
    const wanted = typed.value.trim()
    onDone()
    if (wanted === '' || wanted === name) return
    attempt(() => {
      if (isBuiltInName(wanted) || savedViews.views.value.some((one) => one.name === wanted))
        throw new Error(`A view named ${wanted} already exists`)
      // The current view is renamed too.
      if (view.value.name === name) view.value = { ...view.value, name: wanted }
      savedViews.rename(name, wanted)
    })
  }
  return (
    <li>
      <form onSubmit={rename}>
        <input
          aria-label={`New name for ${name}`}
          maxLength={200}
          ref={(input) => input?.focus()}
          value={typed.value}
          onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        />
        <button type="submit" class="primary">
          Rename
        </button>
      </form>
    </li>
  )
}

function attempt(action: () => void): void {
  try {
    action()
  } catch (error) {
    showError(error)
  }
}

/** Characters of a file's line that fit into the panel. */
const SHOWN = 44

/** Lists the mistakes in a file with their positions. */
function Mistakes({ file, mistakes }: Problems): ComponentChild {
  return (
    <ul class="mistakes" role="alert">
      {mistakes.slice(0, 20).map((mistake) => {
        const { text, before } = excerptAt(mistake.text, mistake.at, SHOWN)
        return (
          <li key={`${mistake.line} ${mistake.at}`}>
            <p>
              {file}, line {mistake.line}: {mistake.message}
            </p>
            <pre class="mistake">
              {text}
              {`\n${before}^`}
            </pre>
          </li>
        )
      })}
    </ul>
  )
}

/** Puts a link to the current page into the address bar, and into the clipboard if allowed. */
async function share(): Promise<void> {
  const address = await shareAddress()
  history.replaceState(history.state, '', address)
  const isCopied = await (navigator.clipboard?.writeText(address).then(
    () => true,
    () => false,
  ) ?? false)
  const where = isCopied ? 'Link copied to the clipboard' : 'The address bar now has a link to this page'
  const long =
    address.length > LONG_ADDRESS
      ? `. It has ${address.length} characters, and some programs truncate long links; a file is safer`
      : ''
  const dropped = [...sources.value.values()].filter(({ key }) => key.startsWith('file:') && isShown(key))
  const missing = dropped.map(
    ({ title }) => `. It does not include the data of ${title}, which was opened from local files`,
  )
  showNotice(`${where}${long}${missing.join('')}`)
}

function isShown(key: string): boolean {
  return (
    shownKeys.value.includes(key) ||
    view.value.charts.some(({ plots }) => plots.some(({ source }) => source === key))
  )
}

function writeOwn(): void {
  download(
    fileName(view.value.name, 'json'),
    new Blob([toViewFile(view.value)], { type: 'application/json' }),
  )
}

function writeFile(): void {
  const { name, charts } = view.value
  const { text, losses } = writeViewFile(name, charts, hexColor)
  download(fileName(name, 'view'), new Blob([text], { type: 'text/plain' }))
  if (losses.length > 0) showNotice(`Not everything fits in a pmchart view: ${losses.join(', ')}`)
}

/** Opens a view file of either kind; returns its mistakes. */
async function readFile(file: File): Promise<Problems | undefined> {
  const text = await file.text()
  const own = fromViewFile(text)
  if (own !== undefined) {
    view.value = own.shared.view
    if (own.leftOut > 0)
      showNotice(`Charts of an unknown kind left out of ${file.name}: ${own.leftOut}`, true)
    else showNotice(`Opened ${file.name}`)
    return undefined
  }
  const { charts, globals, tabs, hosts, mistakes } = readViewFile(
    text,
    (color) => hexColor(color) !== undefined,
  )
  if (charts.length > 0) {
    view.value = { name: tabs.length === 1 ? tabs[0]! : file.name.replace(/\.view$/, ''), charts }
    const { points = 0 } = globals
    if (points > 0 && currentSource.value?.span === undefined) time.setWidth(points * intervalSec.value)
  }
  await openKeys(hosts.map(hostKey))
  if (mistakes.length > 0) return { file: file.name, mistakes }
  if (charts.length === 0) showNotice(`${file.name} contains no charts`, true)
  else if (hosts.every((host) => sources.value.has(hostKey(host)))) showNotice(`Opened ${file.name}`)
  return undefined
}

/** Returns a link to what the page shows now. */
async function shareAddress(): Promise<string> {
  return `${location.origin}${location.pathname}#${await toAddress(shownState())}`
}
