/** The Metrics panel: search the name space, read help texts, add metrics to charts. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { SPARK_HEIGHT, SPARK_WIDTH } from '../chart/spark-path.ts'
import type { ChildrenAnswer, NamesAnswer } from '../data/responses.ts'
import type { Source } from '../data/source.ts'
import { currentSource } from '../page.ts'
import { ChartTarget } from './ChartTarget.tsx'
import { ExpressionField } from './ExpressionField.tsx'
import { useHitSparks } from './hit-sparks.ts'
import { addPlot, MetricDetails } from './MetricDetails.tsx'

const NATURAL = new Intl.Collator('en', { numeric: true })
const PAGE = 100
const PAUSE_MS = 150

/** Renders the search field, the results or the tree, and the selected metric. */
export function MetricBrowser(): ComponentChild {
  const source = currentSource.value
  const words = useSignal('')
  const found = useSignal<NamesAnswer | undefined>(undefined)
  const chosen = useSignal<string | undefined>(undefined)
  const problem = useSignal('')
  const target = useSignal<string | undefined>(undefined)
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const { current } = place
    current?.addEventListener('keydown', walk)
    return () => current?.removeEventListener('keydown', walk)
  }, [source !== undefined])
  useEffect(() => {
    const match = words.value.trim()
    if (source === undefined || match === '') {
      found.value = undefined
      return
    }
    let isCurrent = true
    const timer = setTimeout(() => {
      source.names(match, 0, PAGE).then(
        (answer) => {
          if (!isCurrent) return
          found.value = answer
          problem.value = ''
        },
        (error: Error) => {
          if (isCurrent) problem.value = error.message
        },
      )
    }, PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [source, words.value])
  const sparks = useHitSparks(source, found.value?.metrics.map(({ name }) => name) ?? [])
  if (source === undefined) return <p class="empty">No source is open</p>
  return (
    <div class="browser" ref={place}>
      <input
        type="search"
        placeholder="Search: disk latency, iowait, sda …"
        aria-label="Search metrics"
        data-first
        value={words.value}
        onInput={({ currentTarget }) => (words.value = currentTarget.value)}
      />
      {problem.value !== '' && <p class="mistake">{problem.value}</p>}
      <div class="names">
        {found.value === undefined ? (
          <Branch key={source.key} source={source} name="" onChoose={(name) => (chosen.value = name)} />
        ) : (
          <>
            <ul>
              {found.value.metrics.map(({ name, help }) => (
                <li key={name}>
                  <button
                    type="button"
                    class={`leaf${chosen.value === name ? ' on' : ''}`}
                    onClick={() => (chosen.value = name)}
                  >
                    <span>{name}</span>
                    <HitSpark path={sparks.get(name)} />
                    <small>{help}</small>
                  </button>
                </li>
              ))}
            </ul>
            <p class="more">
              {found.value.total === 0
                ? 'No metric has one of these words in its name, help or instances'
                : found.value.total > found.value.metrics.length
                  ? `${found.value.total - found.value.metrics.length} more; add a word to narrow the search`
                  : `${found.value.total} found`}
            </p>
          </>
        )}
      </div>
      {chosen.value !== undefined && (
        // The key resets the form when another metric is selected.
        <MetricDetails key={`${source.key} ${chosen.value}`} source={source} name={chosen.value} />
      )}
      <ExpressionField source={source} action="Add" onDone={(plot) => addPlot(plot, target.value)}>
        <ChartTarget name="Add expression to" target={target} />
      </ExpressionField>
    </div>
  )
}

function HitSpark({ path }: { readonly path: string | undefined }): ComponentChild {
  if (path === undefined) return null
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`}
      width={SPARK_WIDTH}
      height={SPARK_HEIGHT}
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  )
}

interface BranchProps {
  readonly source: Source
  readonly name: string
  readonly onChoose: (name: string) => void
}

/** A name space node. Its children are fetched when it is opened. */
function Branch({ source, name, onChoose }: BranchProps): ComponentChild {
  const children = useSignal<ChildrenAnswer | undefined>(undefined)
  const problem = useSignal('')
  useEffect(() => {
    source.children(name).then(
      (answer) => (children.value = answer),
      (error: Error) => (problem.value = error.message),
    )
  }, [source, name])
  const full = (part: string): string => (name === '' ? part : `${name}.${part}`)
  if (problem.value !== '') return <p class="mistake">{problem.value}</p>
  if (children.value === undefined) return <p class="empty">…</p>
  return (
    <ul class="branch">
      {children.value.nonleaf.toSorted(NATURAL.compare).map((part) => (
        <li key={part}>
          <Node source={source} name={full(part)} part={part} onChoose={onChoose} />
        </li>
      ))}
      {children.value.leaf.toSorted(NATURAL.compare).map((part) => (
        <li key={part}>
          <button type="button" class="leaf" onClick={() => onChoose(full(part))}>
            {part}
          </button>
        </li>
      ))}
    </ul>
  )
}

function Node({ source, name, part, onChoose }: BranchProps & { readonly part: string }): ComponentChild {
  const isOpen = useSignal(false)
  return (
    <details onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>{part}</summary>
      {isOpen.value && <Branch source={source} name={name} onChoose={onChoose} />}
    </details>
  )
}

/** Moves the focus up and down between the search field and the visible names. */
function walk(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const { target, currentTarget } = event
  if (
    step === undefined ||
    !(target instanceof HTMLElement) ||
    target.closest('select, .expression') !== null
  )
    return
  const places = [
    ...(currentTarget as HTMLElement).querySelectorAll<HTMLElement>(
      '[data-first], .names button, .names summary',
    ),
  ].filter((place) => place.checkVisibility())
  const at = places.indexOf(target)
  const next = at < 0 ? undefined : places[at + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}
