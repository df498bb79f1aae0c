/** The state of the page: what is open, what is shown. Components read signals and call these functions. */
import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { ArchiveInfo, ConfigAnswer } from './data/answers.ts'
import { Feeds } from './data/feeds.ts'
import { LiveStream } from './data/live.ts'
import { archiveSource, hostSource, serverArchives, serverConfig } from './data/server.ts'
import type { Source } from './data/source.ts'
import { time } from './time/control.ts'
import { Leader } from './time/leader.ts'
import { isZone } from './time/words.ts'
import { KeptViews } from './view/kept.ts'
import { OUR_VIEWS } from './view/overview.ts'
import { fromFragment } from './view/received.ts'
import type { Shared } from './view/share.ts'
import { type Chart, hostKey, hostOf, type Layout, type View } from './view/view.ts'

/** Everything that can be shown, by key. */
export const sources: Signal<ReadonlyMap<string, Source>> = signal(new Map())
/** Key of the source the page shows. */
export const shownKey: Signal<string> = signal('')
/** The source the page shows; nothing before the server has answered. */
export const shown: ReadonlySignal<Source | undefined> = computed(() => sources.value.get(shownKey.value))
/** Keys of the sources that are shown together with it. */
export const compared: Signal<readonly string[]> = signal([])
/** How they are shown together. */
export const layout: Signal<Layout> = signal<Layout>('beside')
/** Keys of all sources that are shown, the page's own first. */
export const shownKeys: ReadonlySignal<readonly string[]> = computed(() => [
  shownKey.value,
  ...compared.value,
])
/** Views that this browser keeps. */
export const kept: KeptViews = new KeptViews(() => localStorage)
addEventListener('storage', () => kept.refresh())
/** The charts on the page. */
export const view: Signal<View> = signal(
  [...OUR_VIEWS, ...kept.views.value].find(({ name }) => name === kept.opening.value) ?? OUR_VIEWS[0]!,
)
/** Seconds between live samples. */
export const every: Signal<number> = signal(1)
/** What the server lets the page do. */
export const config: Signal<ConfigAnswer | undefined> = signal(undefined)
/** The archives on the server. */
export const archives: Signal<readonly ArchiveInfo[]> = signal([])
/** What opens beside or over the charts. */
export type Panel = 'metrics' | 'archives' | 'views' | 'help'
/** The panel that is open. */
export const panel: Signal<Panel | undefined> = signal(undefined)
/** Id of the chart that is being changed. */
export const editing: Signal<string | undefined> = signal(undefined)
/** A sentence for the person: what was done, or why it could not be. */
export const notice: Signal<{ readonly text: string; readonly isError: boolean } | undefined> =
  signal(undefined)

const stream = new LiveStream(
  `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ui/api/live`,
)
// The present of the page is that of the host it shows.
stream.onRow = (host, at) => {
  if (shownKey.peek() === hostKey(host)) time.hear(at)
}
/** The page's live values. */
export const feeds: Feeds = new Feeds(stream)
/** Programs that follow the page's time. */
export const leader: Leader = new Leader(stream, time, () =>
  shown.value?.span === undefined ? 'host' : 'archive',
)

let noticeTimer: ReturnType<typeof setTimeout> | undefined

/** Tells the person something; errors stay until they are read. */
export function say(text: string, isError = false): void {
  clearTimeout(noticeTimer)
  notice.value = { text, isError }
  if (!isError) noticeTimer = setTimeout(() => (notice.value = undefined), 5000)
}

/** Tells of an error. */
export function complain(error: unknown): void {
  say(error instanceof Error ? error.message : String(error), true)
}

/** Adds a source; one with the same key is replaced. */
export function addSource(source: Source): void {
  const map = new Map(sources.value)
  map.get(source.key)?.close?.()
  sources.value = map.set(source.key, source)
}

/** Shows a source; the time control goes to its end, or to the present. */
export function show(key: string): void {
  const source = sources.value.get(key)
  if (source === undefined) return
  batch(() => {
    shownKey.value = key
    compared.value = compared.value.filter((other) => other !== key)
    time.reset(source.span ?? {})
  })
}

/** Shows a source together with the page's own, or no longer. */
export function compare(key: string, isWanted: boolean): void {
  const others = compared.value.filter((other) => other !== key)
  compared.value = isWanted && key !== shownKey.value ? [...others, key] : others
}

/** Opens the sources of a shared address, when the server has them. */
async function openShared(shared: Shared): Promise<void> {
  const { source, width, end, zone } = shared
  const before = shownKey.peek()
  view.value = shared.view
  const named = shared.view.charts.flatMap(({ plots }) => plots.flatMap((plot) => plot.source ?? []))
  const wanted = shared.compared ?? []
  await openKeys([...(source === undefined ? [] : [source]), ...wanted, ...named])
  if (shownKey.peek() !== before) return // chosen by a person who did not wait for the server
  if (source !== undefined) show(source)
  compared.value = wanted.filter((key) => sources.value.has(key) && key !== shownKey.value)
  layout.value = shared.layout ?? 'beside'
  time.zone.value = zone !== undefined && isZone(zone) ? zone : ''
  every.value = shared.every ?? 1
  if (width !== undefined) time.setWidth(width)
  if (end !== undefined && width !== undefined) time.show(end - width, end)
}

/** Opens the sources of keys, unless they are open. The person is told of all that are not to be had here. */
export async function openKeys(keys: readonly string[]): Promise<void> {
  const missing: string[] = []
  for (const key of new Set(keys)) {
    await openKey(key)
    if (!sources.value.has(key)) missing.push(missingText(key))
  }
  if (missing.length > 0) say(missing.join('. '), true)
}

async function openKey(key: string): Promise<void> {
  if (sources.value.has(key)) return
  const host = hostOf(key)
  if (host !== undefined && config.value?.anyHost === true) addSource(hostSource(host, host, null))
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
    : `The ${kind} ${name} is not to be had here`
}

/** Asks the server what archives there are now. */
export async function refreshArchives(): Promise<void> {
  archives.value = await serverArchives()
}

/** Opens the page: this host, or what the address says. */
export async function start(): Promise<void> {
  const answer = await serverConfig()
  config.value = answer
  // What is recorded is the first of the hosts.
  for (const [i, spec] of (answer.hosts.length > 0 ? answer.hosts : ['local:']).entries())
    addSource(hostSource(spec, i === 0 ? answer.hostname : spec, i === 0 ? answer.history : null))
  show(sources.value.keys().next().value!)
  addEventListener('hashchange', () => openAddress().catch(complain))
  await openAddress()
}

/** Shows what the address of the page says, if it says anything. */
async function openAddress(): Promise<void> {
  const received = await fromFragment(location.hash)
  if (received === undefined) return
  await openShared(received.shared)
  if (received.leftOut > 0)
    say(`${received.leftOut} charts of the address are of a kind that this page does not know`, true)
}

// Charts of the view.

/** Puts a changed chart in place of the one with its id. */
export function changeChart(id: string, change: Partial<Chart>): void {
  const { name, charts } = view.value
  view.value = { name, charts: charts.map((chart) => (chart.id === id ? { ...chart, ...change } : chart)) }
}
