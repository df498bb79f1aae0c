/** Views: kept by this browser, shared as an address or a file, read from and written as PCP's view files. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { download, fileName } from '../chart/export.ts'
import {
  compared,
  complain,
  every,
  kept,
  layout,
  openKeys,
  say,
  shown,
  shownKey,
  shownKeys,
  sources,
  view,
} from '../page.ts'
import { time } from '../time/control.ts'
import { OUR_VIEWS } from '../view/overview.ts'
import { readViewFile, type ViewMistake } from '../view/pmchart.ts'
import { writeViewFile } from '../view/pmchart-write.ts'
import { fromViewFile } from '../view/received.ts'
import { type Shared, toFragment, toViewFile } from '../view/share.ts'
import { hostKey, type View } from '../view/view.ts'
import { hexColor } from './ChartEditor.tsx'
import { aroundMistake } from './ExpressionField.tsx'
import { addChart } from './edit-view.ts'
import { Menu } from './Menu.tsx'

/** Some programs cut longer addresses. */
const LONG_ADDRESS = 8000

/** What a file was read with. */
interface Problems {
  readonly file: string
  readonly mistakes: readonly ViewMistake[]
}

/** Lists them; a click shows one. */
export function Views(): ComponentChild {
  const problems = useSignal<Problems | undefined>(undefined)
  const read = async (file: File): Promise<void> => {
    problems.value = undefined
    problems.value = await readFile(file)
  }
  return (
    <div class="views">
      <ul>
        {OUR_VIEWS.map((one) => (
          <Entry key={one.name} view={one} isOurs />
        ))}
        {kept.views.value.map((one) => (
          <Entry key={`kept ${one.name}`} view={one} isOurs={false} />
        ))}
        <li>
          <button type="button" class="leaf" onClick={() => (view.value = { name: 'New view', charts: [] })}>
            An empty page
          </button>
        </li>
      </ul>
      <KeepForm />
      <p class="actions">
        <button type="button" onClick={() => share().catch(complain)}>
          Copy the address
        </button>
        <button type="button" onClick={writeOwn}>
          Save as a file
        </button>
        <button type="button" onClick={writeFile} title="For pmchart">
          Save as a view file of PCP
        </button>
        <label class="button">
          Read a view file
          <input
            type="file"
            hidden
            onChange={({ currentTarget }) => {
              const file = currentTarget.files?.[0]
              currentTarget.value = '' // the same one may be read again
              if (file !== undefined) read(file).catch(complain)
            }}
          />
        </label>
        <button type="button" onClick={() => addChart('New chart', [])}>
          Add an empty chart
        </button>
      </p>
      {problems.value !== undefined && <Mistakes {...problems.value} />}
    </div>
  )
}

/** A view, and what can be done with it. */
function Entry({ view: one, isOurs }: { readonly view: View; readonly isOurs: boolean }): ComponentChild {
  const isRenaming = useSignal(false)
  const { name } = one
  const isOpening = name === (kept.opening.value ?? OUR_VIEWS[0]!.name)
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
          {isOpening && ', the page opens on it'}
        </small>
      </button>
      {!(isOurs && isOpening) && (
        <Menu
          label={`Menu of the view ${name}`}
          items={[
            {
              text: isOpening ? 'Do not open the page on it' : 'Open the page on it',
              action: () =>
                attempt(() => kept.openOn(isOpening || name === OUR_VIEWS[0]!.name ? undefined : name)),
            },
            ...(isOurs
              ? []
              : [
                  { text: 'Rename …', action: () => (isRenaming.value = true) },
                  {
                    text: 'Forget',
                    isDanger: true,
                    action: () =>
                      attempt(() => {
                        kept.forget(name)
                        say(`${name} is forgotten`)
                      }),
                  },
                ]),
          ]}
        />
      )}
    </li>
  )
}

/** Keeps what is shown. */
function KeepForm(): ComponentChild {
  const typed = useSignal('')
  const isOurs = (name: string): boolean => OUR_VIEWS.some((one) => one.name === name)
  const own = isOurs(view.value.name) ? '' : view.value.name
  const name = typed.value.trim() || own
  const isThere = kept.views.value.some((one) => one.name === name)
  const keep = (event: Event): void => {
    event.preventDefault()
    if (name === '') return
    if (isOurs(name)) {
      say(`${name} is the name of a view that is always there: give yours another`, true)
      return
    }
    view.value = { ...view.value, name }
    typed.value = ''
    attempt(() => {
      kept.save(view.value)
      say(`${name} is kept by this browser`)
    })
  }
  return (
    <form onSubmit={keep}>
      <input
        aria-label="Name of the view"
        placeholder={own || 'Name of the view'}
        maxLength={200}
        required={own === ''}
        value={typed.value}
        onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
      />
      <button type="submit" class="primary">
        {isThere ? 'Replace' : 'Keep'}
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
      if ([...OUR_VIEWS, ...kept.views.value].some((one) => one.name === wanted))
        throw new Error(`There is a view ${wanted} already`)
      // The name of what is shown goes with it.
      if (view.value.name === name) view.value = { ...view.value, name: wanted }
      kept.rename(name, wanted)
    })
  }
  return (
    <li>
      <form onSubmit={rename}>
        <input
          aria-label={`New name of ${name}`}
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
    complain(error)
  }
}

/** As many characters of a line of a file as the panel has room for. */
const SHOWN = 44

/** What of a file could not be understood, and where. */
function Mistakes({ file, mistakes }: Problems): ComponentChild {
  return (
    <ul class="mistakes" role="alert">
      {mistakes.slice(0, 20).map((mistake) => {
        const { text, before } = aroundMistake(mistake.text, mistake.at, SHOWN)
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

/** Puts the address of what is shown where it can be copied from, and into the clipboard where that is allowed. */
async function share(): Promise<void> {
  const address = await shareAddress()
  history.replaceState(null, '', address)
  const isCopied = await (navigator.clipboard?.writeText(address).then(
    () => true,
    () => false,
  ) ?? false)
  const where = isCopied ? 'is in the clipboard' : 'now says what is shown'
  const long =
    address.length > LONG_ADDRESS
      ? `. It has ${address.length} characters, which some programs cut: a file is safer`
      : ''
  const dropped = [...sources.value.values()].filter(({ key }) => key.startsWith('file:') && isShown(key))
  const missing = dropped.map(({ title }) => `. Of ${title} it has the name alone: that was read from a disk`)
  say(`The address of this page ${where}${long}${missing.join('')}`)
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
  if (losses.length > 0) say(`A view file of PCP has not everything: ${losses.join(', ')}`)
}

/** Shows the view of a file of either kind; returns what is wrong with it. */
async function readFile(file: File): Promise<Problems | undefined> {
  const text = await file.text()
  const own = fromViewFile(text)
  if (own !== undefined) {
    view.value = own.shared.view
    if (own.leftOut > 0)
      say(`${own.leftOut} charts of ${file.name} are of a kind this page does not know`, true)
    else say(`${file.name} is shown`)
    return undefined
  }
  const { charts, globals, tabs, hosts, mistakes } = readViewFile(
    text,
    (color) => hexColor(color) !== undefined,
  )
  if (charts.length > 0) {
    view.value = { name: tabs.length === 1 ? tabs[0]! : file.name.replace(/\.view$/, ''), charts }
    const { points = 0 } = globals
    if (points > 0 && shown.value?.span === undefined) time.setWidth(points * every.value)
  }
  await openKeys(hosts.map(hostKey))
  if (mistakes.length > 0) return { file: file.name, mistakes }
  if (charts.length === 0) say(`There are no charts in ${file.name}`, true)
  else if (hosts.every((host) => sources.value.has(hostKey(host)))) say(`${file.name} is shown`)
  return undefined
}

/** The address of what is shown now. */
async function shareAddress(): Promise<string> {
  const { to } = time.frame.value
  const shared: Shared = {
    view: view.value,
    source: shownKey.value,
    ...(compared.value.length === 0 ? {} : { compared: compared.value, layout: layout.value }),
    width: time.width.value,
    ...(time.mode.value === 'live' ? {} : { end: to }),
    ...(time.zone.value === '' ? {} : { zone: time.zone.value }),
    ...(every.value === 1 ? {} : { every: every.value }),
  }
  return `${location.origin}${location.pathname}#${await toFragment(shared)}`
}
