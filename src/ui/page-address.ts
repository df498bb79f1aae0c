/** Keeps the address of the page and what it shows the same, in both directions. */
import { batch, effect } from '@preact/signals'
import { pinned } from './chart/instant.ts'
import { selectedSpan } from './chart/selected-span.ts'
import {
  compared,
  currentKey,
  intervalSec,
  layout,
  openKeys,
  screen,
  show,
  showError,
  showNotice,
  sources,
  view,
} from './page.ts'
import { time } from './time/control.ts'
import { isZone } from './time/format.ts'
import { fromAddress, type PageAddress, toAddress } from './view/address.ts'
import { AddressEntries, type BrowserEntries } from './view/address-entries.ts'
import type { SharedView } from './view/share.ts'

const DEPTH = 'pcpDepth'

/** The entries of this tab. Each knows how many of our entries precede it, so that undo does not leave the page. */
const tabEntries: BrowserEntries & { readonly depth: () => number } = {
  current: () => location.hash,
  depth: () => Number((history.state as Record<string, unknown> | null)?.[DEPTH] ?? 0),
  push: (fragment) => history.pushState({ [DEPTH]: tabEntries.depth() + 1 }, '', fragment),
  replace: (fragment) => history.replaceState(history.state, '', fragment),
}

const entries = new AddressEntries(tabEntries)
/** Only the latest address is shown. */
let lastOpened = 0
/** Is it being opened? What the page shows meanwhile is not written. */
let isOpening = false
/** Did the page show the fleet before? */
let isFromFleet = false
/** Only the latest state is written; own views are compressed asynchronously. */
let lastState = 0

/** An address whose source is missing: its window is shown if that source, such as the files of an archive, is the next one shown. */
let awaited: PageAddress | undefined

/** Returns what the page shows. Subscribes the caller to it. */
export function shownState(): SharedView {
  const isLive = time.mode.value === 'live'
  return {
    view: view.value,
    source: currentKey.value,
    ...(compared.value.length === 0 ? {} : { compared: compared.value, layout: layout.value }),
    width: time.width.value,
    ...(isLive ? { since: time.since.value } : { end: time.frame.value.to }),
    at: pinned.value,
    span: selectedSpan.value,
    ...(time.zone.value === '' ? {} : { zone: time.zone.value }),
    ...(intervalSec.value === 1 ? {} : { every: intervalSec.value }),
  }
}

/** Opens the address, and from then on writes into it what the page shows. `loadRest` loads the lazily loaded part of the page. */
export async function followAddress(loadRest: () => Promise<unknown>): Promise<void> {
  addEventListener('hashchange', () => openAddress(loadRest).catch(showError))
  currentKey.subscribe((key) => {
    if (key === awaited?.source) showTimes(awaited)
    awaited = undefined
  })
  await openAddress(loadRest).catch(showError)
  let lastName = view.peek().name
  effect(() => {
    if (screen.value !== 'charts') return
    // Another page, even if it is chosen quickly.
    const isStep = view.value.name !== lastName
    lastName = view.value.name
    const shown = ++lastState
    toAddress(shownState()).then((address) => {
      if (shown === lastState && !isOpening && screen.peek() === 'charts')
        entries.change(`#${address}`, isStep)
    }, showError)
  })
}

/** Returns to the previous state of this page, like Back. Does nothing at the first one. */
export function undo(): void {
  entries.flush()
  if (tabEntries.depth() > 0) history.back()
}

/** Returns to the state before `undo`, like Forward. */
export function redo(): void {
  entries.flush()
  history.forward()
}

/** Opens the address of the current entry, and completes it. */
async function openAddress(loadRest: () => Promise<unknown>): Promise<void> {
  entries.drop()
  const opened = ++lastOpened
  const isLatest = (): boolean => opened === lastOpened
  const { hash } = location
  awaited = undefined
  isOpening = !hash.startsWith('#fleet')
  isFromFleet = isOpening && (isFromFleet || screen.peek() === 'fleet')
  if (hash !== '#charts') screen.value = isOpening ? 'charts' : 'fleet'
  if (!isOpening) return showFirst()
  try {
    // These views are in the lazily loaded part.
    if (hash.includes('page=pmchart-')) await loadRest()
    const received = await fromAddress(hash)
    if (received !== undefined) await openShared(received, isLatest)
    else if (isLatest() && isFromFleet) show(currentKey.peek())
  } finally {
    if (isLatest()) {
      showFirst()
      isOpening = isFromFleet = false
    }
  }
  if (!isLatest()) return
  const shown = ++lastState
  const address = await toAddress(shownState())
  if (shown === lastState) entries.adopt(`#${address}`)
}

/** Shows the first source if none is shown: an address without one, or with a mistake. */
function showFirst(): void {
  if (currentKey.peek() === '') show(sources.peek().keys().next().value!)
}

/** Shows the content of an address, as far as the server has it. */
async function openShared(shared: PageAddress, isLatest: () => boolean): Promise<void> {
  const { source, zone = '', leftOut } = shared
  const before = currentKey.peek()
  if (!isLatest()) return
  if (shared.view !== undefined) view.value = shared.view
  const named = shared.view?.charts.flatMap(({ plots }) => plots.flatMap((plot) => plot.source ?? [])) ?? []
  const wanted = shared.compared ?? []
  await openKeys([...(source === undefined ? [] : [source]), ...wanted, ...named])
  // The user chose another address or source meanwhile.
  if (!isLatest() || currentKey.peek() !== before) return
  const isKnown = zone === '' || isZone(zone)
  const isMissing = source !== undefined && !sources.peek().has(source)
  batch(() => {
    const shown = isMissing ? before : source
    // The fleet has its own bounds of the time.
    if (shown && (shown !== before || isFromFleet)) show(shown)
    showFirst()
    compared.value = wanted.filter((key) => sources.value.has(key) && key !== currentKey.value)
    layout.value = shared.layout ?? 'beside'
    time.zone.value = isKnown ? zone : ''
    intervalSec.value = shared.every ?? 1
    // The window of an archive would leave the charts of a host empty.
    if (!isMissing) showTimes(shared)
  })
  if (isMissing) awaited = shared
  if (!isKnown) showNotice(`Unknown time zone in the address: ${zone}`, true)
  if (leftOut > 0) showNotice(`Charts of an unknown kind left out of the link: ${leftOut}`, true)
}

/** Shows the window, the instant and the selection of an address. */
function showTimes({ width, end, since, at, span }: PageAddress): void {
  pinned.value = at
  selectedSpan.value = span
  if (end !== undefined && width !== undefined) time.show(end - width, end)
  else if (since !== undefined) time.showLatest(time.now() - since, since)
  else if (width !== undefined) time.showLatest(width)
}
