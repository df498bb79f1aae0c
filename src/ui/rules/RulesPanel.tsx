/** The Rules panel: a rule of pmie, tried on the recorded values of the source. */
import { signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { printableWord } from '../../base/printable.ts'
import type { FiringSpan, FiringsQuery, RuleFirings, RuleProblem } from '../../rules/firings.ts'
import { download } from '../chart/export.ts'
import { pinned } from '../chart/instant.ts'
import { bytesText } from '../data/bytes-text.ts'
import type { Source } from '../data/source.ts'
import { keepDraft, readDraft } from '../drafts.ts'
import { currentSource, showNotice } from '../page.ts'
import { CompletedInput } from '../panel/CompletedInput.tsx'
import { time } from '../time/control.ts'
import { formatDuration, formatSpan, formatTime } from '../time/format.ts'
import { EXAMPLES, RULE_FUNCTIONS } from './examples.ts'
import { currentTrial, frameAround, lengthOf, ruleFile, summaryOf, titleOf, trial } from './trial.ts'

/** Offered intervals, in seconds. */
const DELTAS: readonly number[] = [1, 10, 30, 60, 300]
const DEFAULT_DELTA_SEC = 10
/** Spans listed at first, and by each press of the button below. */
const MOST_LISTED = 50
const DRAFT = 'rule'

// Outside of the component, so that they are still there when the panel is opened again.
const text = signal(readDraft(DRAFT))
const deltaSec = signal(DEFAULT_DELTA_SEC)

function edit(value: string): void {
  text.value = value
  keepDraft(DRAFT, value)
}

type State = 'idle' | { readonly busy: string } | { readonly problem: string }

/** Renders the form and the firings. */
export function RulesPanel(): ComponentChild {
  const source = currentSource.value
  if (source === undefined) return <p class="empty">No source is open</p>
  if (source.firings === undefined)
    return <p class="empty">This host is not recorded here, and rules are tried on recorded values</p>
  return <Form source={source} firings={source.firings} />
}

interface FormProps {
  readonly source: Source
  readonly firings: NonNullable<Source['firings']>
}

function Form({ source, firings }: FormProps): ComponentChild {
  const id = useId()
  const state = useSignal<State>('idle')
  const running = useRef<AbortController>(null)
  useEffect(
    () => () => {
      running.current?.abort()
      state.value = 'idle'
    },
    [source],
  )
  const shown = currentTrial.value
  const tryOn = (window: Pick<FiringsQuery, 'start' | 'finish'>): void => {
    running.current?.abort()
    const mine = new AbortController()
    running.current = mine
    state.value = { busy: 'Evaluating …' }
    const onRead = (done: number, total: number): void => {
      if (!mine.signal.aborted)
        state.value = {
          busy: done < total ? `Read ${bytesText(done)} of ${bytesText(total)} …` : 'Evaluating …',
        }
    }
    const query = { text: text.peek(), deltaSec: deltaSec.peek(), ...window }
    firings(query, mine.signal, onRead).then(
      (answer) => {
        if (mine.signal.aborted) return
        state.value = 'idle'
        trial.value = { source, text: query.text, deltaSec: query.deltaSec, answer }
      },
      (error: Error) => {
        if (mine.signal.aborted) return
        state.value = { problem: error.message }
        trial.value = undefined
      },
    )
  }
  const tryOnShown = (event?: Event): void => {
    event?.preventDefault()
    const { from, to } = time.frame.peek()
    tryOn({ start: from, finish: to })
  }
  const isEmpty = text.value.trim() === ''
  return (
    <div class="rules">
      <form onSubmit={tryOnShown}>
        <label class="label" for={id}>
          Rule of pmie
        </label>
        <CompletedInput
          id={id}
          source={source}
          value={text.value}
          isWrong={shown !== undefined && shown.text === text.value && shown.answer.problems.length > 0}
          onInput={edit}
          functions={RULE_FUNCTIONS}
          placeholder={`some_inst (disk.dev.total > 100 count/sec) -> print "busy: " "%i";`}
          lines={5}
        />
        <p class="examples">
          <span class="hint">Examples:</span>
          {EXAMPLES.map(([name, example]) => (
            <button type="button" class="link" key={name} onClick={() => edit(example)}>
              {name}
            </button>
          ))}
        </p>
        <div class="actions">
          <select
            aria-label="Evaluated every"
            value={String(deltaSec.value)}
            onChange={({ currentTarget }) => (deltaSec.value = Number(currentTarget.value))}
          >
            {DELTAS.map((seconds) => (
              <option key={seconds} value={String(seconds)}>
                every {formatDuration(seconds)}
              </option>
            ))}
          </select>
          <button type="submit" class="primary" disabled={isEmpty}>
            Try on what is shown
          </button>
          <button type="button" disabled={isEmpty} onClick={() => tryOn({})}>
            Try on all that is recorded{source.bytes !== undefined && ` (reads ${bytesText(source.bytes)})`}
          </button>
        </div>
      </form>
      <div aria-live="polite" aria-busy={isBusy(state.value)}>
        {isBusy(state.value) ? <p class="empty">{state.value.busy}</p> : <Result state={state.value} />}
      </div>
      {isBusy(state.value) && (
        <button
          type="button"
          onClick={() => {
            running.current?.abort()
            state.value = 'idle'
          }}
        >
          Stop
        </button>
      )}
      <div class="actions">
        <button type="button" disabled={isEmpty} onClick={copy}>
          Copy for pmie
        </button>
        <button type="button" disabled={isEmpty} onClick={save}>
          Save as a file
        </button>
        {shown?.answer.rules.some(({ spans }) => spans.length > 0) && (
          <button type="button" onClick={() => (trial.value = undefined)}>
            Clear the marks
          </button>
        )}
      </div>
      <p class="hint">
        Actions are not performed here. Run the rules with <code>pmie -c FILE</code>
      </p>
    </div>
  )
}

type Busy = Extract<State, { busy: string }>

const isBusy = (state: State): state is Busy => typeof state === 'object' && 'busy' in state

function Result({ state }: { readonly state: Exclude<State, Busy> }): ComponentChild {
  if (state !== 'idle') return <p class="mistake">{state.problem}</p>
  const shown = currentTrial.value
  if (shown === undefined) return null
  const { rules, problems, start, finish } = shown.answer
  const zone = time.zone.value
  return (
    <>
      <Mistakes problems={problems} />
      {rules.map((rule) => (
        <Firings key={`${rule.line} ${rule.name}`} rule={rule} />
      ))}
      {rules.length === 0 && problems.length === 0 && <p class="empty">There is no rule in this text</p>}
      {rules.length > 0 && <p class="hint">Tried on {formatSpan(start, finish, zone)}</p>}
    </>
  )
}

function Mistakes({ problems }: { readonly problems: readonly RuleProblem[] }): ComponentChild {
  return problems.map(({ message, line, column }) => (
    <p class="mistake" key={`${line} ${column} ${message}`}>
      {line !== null && `Line ${line}, column ${column}: `}
      {message}
    </p>
  ))
}

function Firings({ rule }: { readonly rule: RuleFirings }): ComponentChild {
  const listed = useSignal(MOST_LISTED)
  const { spans, spanCount } = rule
  return (
    <section>
      <h3>{titleOf(rule)}</h3>
      <p class="sum">{summaryOf(rule)}</p>
      <ol>
        {spans.slice(0, listed.value).map((span) => (
          <Span key={span.from} span={span} deltaSec={rule.deltaSec} />
        ))}
      </ol>
      {spans.length > listed.value && (
        <button type="button" class="link" onClick={() => (listed.value += MOST_LISTED)}>
          Show more
        </button>
      )}
      {spanCount > spans.length && (
        <p class="hint">
          Only the first {spans.length.toLocaleString('en')} spans are listed and marked. Try a shorter
          window.
        </p>
      )}
    </section>
  )
}

function Span({ span, deltaSec }: { readonly span: FiringSpan; readonly deltaSec: number }): ComponentChild {
  const go = (): void => {
    const { from, to } = frameAround(span, deltaSec)
    time.show(from, to)
    pinned.value = span.from
  }
  return (
    <li>
      <button type="button" class="link" onClick={go}>
        {formatTime(span.from, time.zone.value)}
      </button>{' '}
      <small>{lengthOf(span)}</small>
      <p>{printableWord(span.message)}</p>
    </li>
  )
}

function copy(): void {
  const said = navigator.clipboard?.writeText(ruleFile(text.peek(), deltaSec.peek()))
  if (said === undefined) showNotice('This browser does not allow copying here; save the file instead', true)
  else
    said.then(
      () => showNotice('Copied as a rule file of pmie'),
      () => showNotice('This browser does not allow copying here; save the file instead', true),
    )
}

function save(): void {
  download('rules.pmie', new Blob([ruleFile(text.peek(), deltaSec.peek())], { type: 'text/plain' }))
}
