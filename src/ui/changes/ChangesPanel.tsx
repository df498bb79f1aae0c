/** The Changes panel: what changed in the shown window against an earlier one, ranked. */
import { signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Change, ChangeReport, RelatedChange } from '../../analysis/what-changed.ts'
import { printableWord } from '../../base/printable.ts'
import { selectedSpan } from '../chart/selected-span.ts'
import type { Source } from '../data/source.ts'
import type { LazyPart } from '../lazy.tsx'
import { archives, config, currentSource, refreshArchives, showNotice } from '../page.ts'
import { addChart } from '../panel/edit-view.ts'
import { type Frame, time } from '../time/control.ts'
import { formatDuration, formatSpan, formatTime } from '../time/format.ts'
import { type Comparison, distancesFor, queryFor } from './ask.ts'
import { ChangeSpark } from './ChangeSpark.tsx'
import { partsOf, plotsOf, sizeOf, valuesOf, whenOf } from './words.ts'

type Answer = { readonly report: ChangeReport } | { readonly problem: string }

/** Value of the choice of a window. */
const CHOSEN = 'chosen'

/** The chosen window to compare with. It outlives the panel, so that another span can be selected for it. */
const chosen = signal<Frame | undefined>(undefined)

interface PartsProps {
  /** The rest of the page. Importing from it here would split the first load into more files. */
  readonly parts: LazyPart
}

/** Renders the question and the list. The window is the selected span, or the one shown when the panel was opened, until another is chosen. */
export function ChangesPanel({ parts }: PartsProps): ComponentChild {
  const source = currentSource.value
  const window = useSignal<Frame>(selectedSpan.peek() ?? time.frame.peek())
  const comparison = useSignal<Comparison>(chosen.peek() ?? 0)
  const recordedFrom = useRecordedFrom(source, parts)
  const selected = useSettled(selectedSpan.value)
  useEffect(() => {
    if (selected !== undefined) ask(selected)
  }, [selected])
  const answer = useSignal<Answer | undefined>(undefined)
  useEffect(() => {
    answer.value = undefined
    if (source?.changes === undefined) return
    const query = queryFor(window.value, comparison.value)
    if (query === undefined) {
      answer.value = { problem: OVERLAP }
      return
    }
    const gone = new AbortController()
    source.changes(query, gone.signal).then(
      (report) => {
        if (!gone.signal.aborted) answer.value = { report }
      },
      (error: Error) => {
        if (!gone.signal.aborted) answer.value = { problem: error.message }
      },
    )
    return () => gone.abort()
  }, [source, window.value, comparison.value])
  const ask = (frame: Frame): void => {
    const { value } = comparison
    const isOffered = distancesFor(frame, recordedFrom).some(([seconds]) => seconds === value)
    if (typeof value === 'number' && !isOffered) comparison.value = 0
    window.value = frame
  }
  const against = (frame: Frame | undefined): void => {
    chosen.value = frame
    comparison.value = frame ?? 0
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
          value={typeof comparison.value === 'number' ? String(comparison.value) : CHOSEN}
          onChange={({ currentTarget: { value } }) => {
            comparison.value = value === CHOSEN ? chosen.value! : Number(value)
          }}
        >
          {distancesFor(window.value, recordedFrom).map(([seconds, text]) => (
            <option key={seconds} value={String(seconds)}>
              against {text}
            </option>
          ))}
          {chosen.value !== undefined && (
            <option value={CHOSEN}>
              against {formatSpan(chosen.value.from, chosen.value.to, time.zone.value)}
            </option>
          )}
        </select>
        <AgainstField parts={parts} window={window.value} choose={against} />
        <button type="button" data-first onClick={choose}>
          Use the shown window
        </button>
        <button
          type="button"
          title="Then select a span, or show another window and use it: it is compared with this one"
          onClick={() => against(window.value)}
        >
          Keep as comparison
        </button>
      </div>
      <div aria-live="polite" aria-busy={answer.value === undefined}>
        <Result answer={answer.value} />
      </div>
    </div>
  )
}

const OVERLAP = 'The two windows overlap: select another span, or compare with another window'

/** Returns when the recording of a source begins, once that is known. */
function useRecordedFrom(source: Source | undefined, { spanOfHistory }: LazyPart): number | undefined {
  const history = config.value?.history
  const isRecordedHost = source?.span === undefined && source?.changes !== undefined
  useEffect(() => {
    // Without the list, the panel offers all distances.
    if (isRecordedHost) refreshArchives().catch(() => {})
  }, [source])
  if (!isRecordedHost) return source?.span?.start
  return history == null ? undefined : spanOfHistory(archives.value, history)?.from
}

interface AgainstFieldProps extends PartsProps {
  readonly window: Frame
  readonly choose: (frame: Frame) => void
}

/** Renders a field for the window to compare with. It takes what Go to takes; a time is the middle of a window of the same width. */
function AgainstField({
  parts: { readRange, windowBase },
  window,
  choose,
}: AgainstFieldProps): ComponentChild {
  const text = useSignal('')
  const mistake = useSignal('')
  const read = (event: Event): void => {
    event.preventDefault()
    mistake.value = ''
    if (text.value.trim() === '') return
    try {
      const { from, to } = readRange(text.value, { ...windowBase(), frame: window })
      choose({ from, to })
      text.value = ''
    } catch (error) {
      mistake.value = (error as Error).message
    }
  }
  return (
    <form onSubmit={read}>
      <input
        aria-label="Compare with another window"
        placeholder="against … yesterday 14:00, 03:00 to 04:00"
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      {mistake.value !== '' && (
        <pre class="mistake" role="alert">
          {mistake.value}
        </pre>
      )}
    </form>
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
        <Arrow class={`direction ${direction}`} direction={direction} /> {printableWord(change.metric)}{' '}
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
                <Arrow direction={other.direction} /> {printableWord(nameOf(other))}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

interface ArrowProps {
  readonly direction: Change['direction']
  readonly class?: string
}

/** Renders a direction, which screen readers read as a word. */
function Arrow({ direction, ...rest }: ArrowProps): ComponentChild {
  const isUp = direction === 'up'
  return (
    <span {...rest} role="img" aria-label={isUp ? 'rose' : 'fell'}>
      {isUp ? '▲' : '▼'}
    </span>
  )
}
