/** The Changes panel: what changed in the shown window against an earlier one, ranked. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Change, ChangeReport, RelatedChange } from '../../analysis/what-changed.ts'
import { printableWord } from '../../base/printable.ts'
import { selectedSpan } from '../chart/selected-span.ts'
import { currentSource, showNotice } from '../page.ts'
import { addChart } from '../panel/edit-view.ts'
import { type Frame, time } from '../time/control.ts'
import { formatDuration, formatSpan, formatTime } from '../time/format.ts'
import { distancesFor, queryFor } from './ask.ts'
import { ChangeSpark } from './ChangeSpark.tsx'
import { partsOf, plotsOf, sizeOf, valuesOf, whenOf } from './words.ts'

type Answer = { readonly report: ChangeReport } | { readonly problem: string }

/** Renders the question and the list. The window is the selected span, or the one shown when the panel was opened, until another is chosen. */
export function ChangesPanel(): ComponentChild {
  const source = currentSource.value
  const window = useSignal<Frame>(selectedSpan.peek() ?? time.frame.peek())
  const distance = useSignal(0)
  const selected = useSettled(selectedSpan.value)
  useEffect(() => {
    if (selected !== undefined) ask(selected)
  }, [selected])
  const answer = useSignal<Answer | undefined>(undefined)
  useEffect(() => {
    answer.value = undefined
    if (source?.changes === undefined) return
    const gone = new AbortController()
    source.changes(queryFor(window.value, distance.value), gone.signal).then(
      (report) => {
        if (!gone.signal.aborted) answer.value = { report }
      },
      (error: Error) => {
        if (!gone.signal.aborted) answer.value = { problem: error.message }
      },
    )
    return () => gone.abort()
  }, [source, window.value, distance.value])
  const ask = (frame: Frame): void => {
    if (!distancesFor(frame).some(([seconds]) => seconds === distance.value)) distance.value = 0
    window.value = frame
  }
  const choose = (): void => {
    selectedSpan.value = undefined
    ask(time.frame.peek())
  }
  if (source === undefined) return <p class="empty">No source is open</p>
  if (source.changes === undefined)
    return <p class="empty">This host is not recorded here, and only recorded values can be compared</p>
  return (
    <div class="changes">
      <Question window={window.value} />
      <div class="actions">
        <select
          aria-label="Compare with"
          value={String(distance.value)}
          onChange={({ currentTarget }) => (distance.value = Number(currentTarget.value))}
        >
          {distancesFor(window.value).map(([seconds, text]) => (
            <option key={seconds} value={String(seconds)}>
              against {text}
            </option>
          ))}
        </select>
        <button type="button" data-first onClick={choose}>
          Use the shown window
        </button>
      </div>
      <div aria-live="polite" aria-busy={answer.value === undefined}>
        <Result answer={answer.value} />
      </div>
    </div>
  )
}

/** Time without a change after which a dragged span is compared, ms. */
const SETTLED_MS = 300

/** Returns a span once it no longer changes. */
function useSettled(span: Frame | undefined): Frame | undefined {
  const settled = useSignal<Frame | undefined>(span)
  useEffect(() => {
    const timer = setTimeout(() => (settled.value = span), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [span])
  return settled.value
}

function Question({ window: { from, to } }: { readonly window: Frame }): ComponentChild {
  const zone = time.zone.value
  return (
    <p class="hint">
      What changed from {formatSpan(from, to, zone)} ({formatDuration(to - from)})
    </p>
  )
}

function Result({ answer }: { readonly answer: Answer | undefined }): ComponentChild {
  if (answer === undefined) return <p class="empty">Comparing …</p>
  if ('problem' in answer) return <p class="mistake">{answer.problem}</p>
  const { changes, series, leftOut, further, before, unrecorded } = answer.report
  if (unrecorded !== null)
    return (
      <p class="empty">
        Nothing was recorded in {unrecorded === 'span' ? 'this window' : 'the window to compare with'}. Choose
        a later one.
      </p>
    )
  const zone = time.zone.value
  const [clear, weaker] = partsOf(changes)
  if (changes.length === 0)
    return (
      <p class="empty">
        None of {series} series changed beyond its usual noise. Zoom to the moment in question, or choose
        another window to compare with.
      </p>
    )
  return (
    <>
      {clear.length === 0 && (
        <p class="empty">No clear change: what changed is hardly more than the usual noise.</p>
      )}
      <List changes={clear} />
      {weaker.length > 0 && (
        <details>
          <summary>{weaker.length === 1 ? '1 weaker change' : `${weaker.length} weaker changes`}</summary>
          <List changes={weaker} />
        </details>
      )}
      <p class="hint">
        {series} series compared with {formatSpan(before.start, before.finish, zone)}
        {further > 0 && `; ${further} smaller changes are not listed`}
        {leftOut > 0 && `; ${leftOut} left out, as there are too many`}
      </p>
    </>
  )
}

function List({ changes }: { readonly changes: readonly Change[] }): ComponentChild {
  if (changes.length === 0) return null
  return (
    <ol>
      {changes.map((change) => (
        <Row key={`${change.metric} ${change.inst}`} change={change} />
      ))}
    </ol>
  )
}

function nameOf({ metric, instance }: RelatedChange): string {
  return instance === '' ? metric : `${metric} ${instance}`
}

function Row({ change }: { readonly change: Change }): ComponentChild {
  const { direction, help, others } = change
  const [before, now] = valuesOf(change)
  const zone = time.zone.value
  const add = (): void => {
    const title = printableWord(nameOf(change))
    addChart(title, plotsOf(change))
    showNotice(`Added a chart for ${title} at the end of the page`)
  }
  return (
    <li>
      <h3>
        <span class={`direction ${direction}`} role="img" aria-label={direction === 'up' ? 'rose' : 'fell'}>
          {direction === 'up' ? '▲' : '▼'}
        </span>{' '}
        {printableWord(change.metric)}
        {change.instance !== '' && <span class="of">{printableWord(change.instance)}</span>}
      </h3>
      <div class="row">
        <ChangeSpark sparks={change.sparks} />
        <button type="button" onClick={add} aria-label={`Add a chart for ${printableWord(nameOf(change))}`}>
          Add chart
        </button>
      </div>
      <p class="values">
        <span>{before}</span> → <strong>{now}</strong> <small>{sizeOf(change)}</small>{' '}
        <small title={formatTime(change.since, zone)}>{whenOf(change, zone)}</small>
      </p>
      {help !== '' && <p class="hint">{printableWord(help)}</p>}
      {others.length > 0 && (
        <details>
          <summary>{others.length} more moved along</summary>
          <ul>
            {others.map((other) => (
              <li key={nameOf(other)}>
                {other.direction === 'up' ? '▲' : '▼'} {printableWord(nameOf(other))}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}
