/** State of the page: signals that components read, and functions that change them. */
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { pinned } from './chart/instant.ts'
import { selectedSpan } from './chart/selected-span.ts'
import { Feeds } from './data/feeds.ts'
import { LiveStream } from './data/live.ts'
import type { ArchiveInfo, ConfigAnswer } from './data/responses.ts'
import { archiveSource, hostSource, serverArchives, serverConfig, serverFleet } from './data/server.ts'
import type { Source } from './data/source.ts'
import { time } from './time/control.ts'
import { TimeLeader } from './time/leader.ts'
import { BUILT_IN_VIEWS } from './view/built-in.ts'
import { SavedViews } from './view/saved-views.ts'
import { type Chart, hostKey, hostOf, type Layout, urlOf, type View } from './view/view.ts'

/** All open sources by key. */
export const sources: Signal<ReadonlyMap<string, Source>> = signal(new Map())
/** Key of the current source. */
export const currentKey: Signal<string> = signal('')
/** The current source; undefined before the server has answered. */
export const currentSource: ReadonlySignal<Source | undefined> = computed(() =>
  sources.value.get(currentKey.value),
)
/** Keys of the sources compared with it. */
export const compared: Signal<readonly string[]> = signal([])
/** How compared sources are laid out. */
export const layout: Signal<Layout> = signal<Layout>('beside')
/** Keys of all shown sources, the current one first. */
export const shownKeys: ReadonlySignal<readonly string[]> = computed(() => [
  currentKey.value,
  ...compared.value,
])
/** Views saved in this browser. */
export const savedViews: SavedViews = new SavedViews(() => localStorage)
addEventListener('storage', () => savedViews.refresh())
/** Returns the view with which the page opens. */
function startView(): View {
  const { views, startView } = savedViews
  return (
    [...BUILT_IN_VIEWS, ...views.peek()].find(({ name }) => name === startView.peek()) ?? BUILT_IN_VIEWS[0]!
  )
}

/** The view on the page. */
export const view: Signal<View> = signal(startView())
/** Seconds between live samples. */
export const intervalSec: Signal<number> = signal(1)
/** Configuration of the server for the page. */
export const config: Signal<ConfigAnswer | undefined> = signal(undefined)
/** Archives on the server. */
export const archives: Signal<readonly ArchiveInfo[]> = signal([])
/** What the page shows: charts of its sources, or all hosts. */
export const screen: Signal<'charts' | 'fleet'> = signal<'charts' | 'fleet'>('charts')
/** Number of hosts of the archives on the server. */
export const hostCount: Signal<number> = signal(0)
/** Panels that open beside the charts. */
export type Panel = 'metrics' | 'changes' | 'rules' | 'alerts' | 'archives' | 'views' | 'help'
/** The open panel. */
export const panel: Signal<Panel | undefined> = signal(undefined)
/** Number of active alerts of the server's host. */
export const activeAlerts: Signal<number> = signal(0)
/** Id of the chart in the editor. */
export const editing: Signal<string | undefined> = signal(undefined)
/** Message for the user: a result or an error. */
export const notice: Signal<{ readonly text: string; readonly isError: boolean } | undefined> =
  signal(undefined)

/** The page's connection for live values. */
export const stream: LiveStream = new LiveStream(
  `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ui/api/live`,
)
// The page's clock follows the current host.
stream.onRow = (host, at) => {
  if (currentKey.peek() === hostKey(host)) time.noteHostTime(at)
}
/** Live values of the page. */
export const feeds: Feeds = new Feeds(stream)
/** Leads programs that follow the page's time. */
export const leader: TimeLeader = new TimeLeader(stream, time, () =>
  currentSource.value?.span === undefined ? 'host' : 'archive',
)

let noticeTimer: ReturnType<typeof setTimeout> | undefined

/** Shows a message to the user; errors stay until dismissed. */
export function showNotice(text: string, isError = false): void {
  clearTimeout(noticeTimer)
  notice.value = { text, isError }
  if (!isError) noticeTimer = setTimeout(() => (notice.value = undefined), 5000)
}

/** Shows an error to the user. */
export function showError(error: unknown): void {
  showNotice(error instanceof Error ? error.message : String(error), true)
}

/** Adds a source, replacing one with the same key. */
export function addSource(source: Source): void {
  const map = new Map(sources.value)
  map.get(source.key)?.close?.()
  sources.value = map.set(source.key, source)
}

/** Makes a source the current one; the time control moves to its end, or to the present. */
export function show(key: string): void {
  const source = sources.value.get(key)
  if (source === undefined) return
  batch(() => {
    currentKey.value = key
    pinned.value = undefined
    selectedSpan.value = undefined
    compared.value = compared.value.filter((other) => other !== key)
    time.reset(source.span ?? {})
    const { firstWidth = Number.POSITIVE_INFINITY } = source
    if (time.width.peek() > firstWidth) time.setWidth(firstWidth)
  })
}

/** Adds a source to the comparison or removes it. */
export function compare(key: string, isWanted: boolean): void {
  const others = compared.value.filter((other) => other !== key)
  compared.value = isWanted && key !== currentKey.value ? [...others, key] : others
}

/** Opens the sources of `keys` that are not open yet, and reports the unavailable ones. */
export async function openKeys(keys: readonly string[]): Promise<void> {
  const missing: string[] = []
  for (const key of new Set(keys)) {
    await openKey(key)
    if (!sources.value.has(key)) missing.push(missingText(key))
  }
  if (missing.length > 0) showNotice(missing.join('. '), true)
}

let openUrl: (url: string) => Promise<unknown> = async () => undefined

/** Sets the function that opens archives on web servers, which is not part of the first load. */
export function setUrlOpener(open: typeof openUrl): void {
  openUrl = open
}

async function openKey(key: string): Promise<void> {
  if (sources.value.has(key)) return
  const host = hostOf(key)
  if (host !== undefined && config.value?.anyHost === true) addSource(hostSource(host, host, null))
  const url = urlOf(key)
  if (url !== undefined) await openUrl(url)
  if (key.startsWith('archive:')) {
    await refreshArchives()
    const info = archives.value.find(({ id }) => `archive:${id}` === key)
    if (info !== undefined) addSource(archiveSource(info))
  }
}

function missingText(key: string): string {
  const [kind, name] = [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)]
  return kind === 'file'
    ? `To see ${name}, drop its files on the page`
    : `The ${kind} ${name} is not available here`
}

/** Reloads the list of archives on the server. */
export async function refreshArchives(): Promise<void> {
  archives.value = await serverArchives()
}

/** Loads the configuration of the server and its hosts. `followAddress` shows one of the sources. */
export async function start(): Promise<void> {
  const answer = await serverConfig()
  config.value = answer
  // Only the first host is recorded.
  for (const [i, spec] of (answer.hosts.length > 0 ? answer.hosts : ['local:']).entries())
    addSource(hostSource(spec, i === 0 ? answer.hostname : spec, i === 0 ? answer.history : null))
}

/** Finds out how many hosts the archives of the server have. */
export function countHosts(): void {
  // After an error the header has no link to the fleet; #fleet reports the error.
  if (config.peek()?.archives !== true || screen.peek() !== 'charts') return
  serverFleet()
    .then(({ hosts }) => (hostCount.value = hosts.key.length))
    .catch(() => {})
}

/** Replaces the chart with this id by a changed copy. */
export function changeChart(id: string, change: Partial<Chart>): void {
  const { name, charts } = view.value
  view.value = { name, charts: charts.map((chart) => (chart.id === id ? { ...chart, ...change } : chart)) }
}
