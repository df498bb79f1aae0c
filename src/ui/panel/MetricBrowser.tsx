/** The name space: search it, read what a metric means, put it on a chart. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import type { ChildrenAnswer, InstanceInfo, MetricDetails, NamesAnswer } from '../data/answers.ts'
import type { Source } from '../data/source.ts'
import { addChart, addPlots, say, shown, view } from '../page.ts'
import { type InstanceChoice, isChosen, type Plot } from '../view/view.ts'
import { ExpressionField } from './ExpressionField.tsx'

const PAGE = 100
const PAUSE_MS = 150

/** Search field, results or tree, and the metric that is chosen. */
export function MetricBrowser(): ComponentChild {
  const source = shown.value
  const words = useSignal('')
  const found = useSignal<NamesAnswer | undefined>(undefined)
  const chosen = useSignal<string | undefined>(undefined)
  const problem = useSignal('')
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
  if (source === undefined) return <p class="empty">No source is open</p>
  return (
    <div class="browser">
      <input
        type="search"
        placeholder="Search names and help"
        aria-label="Search metrics"
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
                    <small>{help}</small>
                  </button>
                </li>
              ))}
            </ul>
            <p class="more">
              {found.value.total === 0
                ? 'Nothing has all of these words in its name or its one-line help'
                : found.value.total > found.value.metrics.length
                  ? `${found.value.total - found.value.metrics.length} more: another word narrows it`
                  : `${found.value.total} found`}
            </p>
          </>
        )}
      </div>
      {chosen.value !== undefined && (
        // A key: what was picked and typed for one metric must not be there, for a moment, for the next.
        <Details key={`${source.key} ${chosen.value}`} source={source} name={chosen.value} />
      )}
      <ExpressionField source={source} onDone={(plot) => put(plot, undefined)} />
    </div>
  )
}

interface BranchProps {
  readonly source: Source
  readonly name: string
  readonly onChoose: (name: string) => void
}

/** A node of the name space; what is below it is asked for when it is opened. */
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
      {children.value.nonleaf.map((part) => (
        <li key={part}>
          <Node source={source} name={full(part)} part={part} onChoose={onChoose} />
        </li>
      ))}
      {children.value.leaf.map((part) => (
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

/** Puts a plot on a chart: one there is, or a new one. */
function put(plot: Plot, chartId: string | undefined): void {
  const title = plot.expr ?? plot.metric
  if (chartId === undefined) {
    addChart(title, [plot])
    say(`${title} has a chart of its own at the end of the page`)
  } else {
    addPlots(chartId, [plot])
    say(`${title} was added`)
  }
}

/** All about a metric, and which of its instances to draw where. */
function Details({ source, name }: { readonly source: Source; readonly name: string }): ComponentChild {
  const details = useSignal<MetricDetails | undefined>(undefined)
  const instances = useSignal<readonly InstanceInfo[]>([])
  const picked = useSignal<ReadonlySet<string>>(new Set())
  const pattern = useSignal('')
  const target = useSignal('')
  const isPinned = useSignal(false)
  const problem = useSignal('')
  useEffect(() => {
    const load = async (): Promise<void> => {
      const metric = await source.metric(name)
      details.value = metric
      if (metric.indom !== null) instances.value = await source.instances(name)
      problem.value = ''
    }
    load().catch((error: Error) => (problem.value = error.message))
  }, [source, name])
  if (problem.value !== '') return <p class="mistake">{problem.value}</p>
  const metric = details.value
  if (metric === undefined) return <p class="empty">…</p>
  const choice: InstanceChoice | undefined =
    pattern.value === '' ? undefined : { mode: 'matching', text: pattern.value }
  const pinned = isPinned.value ? { source: source.key } : {}
  const add = (): void => {
    const chartId = target.value === '' ? undefined : target.value
    if (picked.value.size === 0) {
      put({ metric: name, ...pinned, ...(choice === undefined ? {} : { instances: choice }) }, chartId)
      return
    }
    const plots = [...picked.value].map(
      (text): Plot => ({ metric: name, ...pinned, instances: { mode: 'instance', text } }),
    )
    if (chartId === undefined) addChart(name, plots)
    else addPlots(chartId, plots)
    say(`${plots.length} of ${name} added`)
  }
  const pick = (instance: string): void => {
    const next = new Set(picked.value)
    if (!next.delete(instance)) next.add(instance)
    picked.value = next
  }
  const labels = Object.entries(metric.labels)
  return (
    <section class="details" aria-label={name}>
      <h3>{name}</h3>
      <p>{metric.help}</p>
      {metric.text !== '' && metric.text !== metric.help && <p class="text">{metric.text}</p>}
      <dl>
        <dt>Type</dt>
        <dd>{metric.type}</dd>
        <dt>Semantics</dt>
        <dd>{metric.sem}</dd>
        <dt>Units</dt>
        <dd>{metric.units}</dd>
        <dt>PMID</dt>
        <dd>{metric.pmid}</dd>
        {labels.length > 0 && (
          <>
            <dt>Labels</dt>
            <dd>{labels.map(([key, value]) => `${key}=${String(value)}`).join(' ')}</dd>
          </>
        )}
      </dl>
      {metric.indom !== null && (
        <fieldset>
          <legend>
            {instances.value.length === 1 ? '1 instance' : `${instances.value.length} instances`}: click those
            to draw, or give a pattern; none is all
          </legend>
          <input
            aria-label="Pattern of instances"
            placeholder="Pattern, as ^sd"
            value={pattern.value}
            onInput={({ currentTarget }) => (pattern.value = currentTarget.value)}
          />
          <div class="instances">
            {instances.value.slice(0, 500).map((instance) => (
              <button
                type="button"
                key={instance.id}
                aria-pressed={
                  picked.value.has(instance.name) || (choice !== undefined && isChosen(choice, instance.name))
                }
                onClick={() => pick(instance.name)}
              >
                {instance.name}
              </button>
            ))}
          </div>
        </fieldset>
      )}
      <label>
        <span class="label">Of</span>
        <select
          value={isPinned.value ? 'this' : 'page'}
          onChange={({ currentTarget }) => {
            isPinned.value = currentTarget.value === 'this'
          }}
        >
          <option value="page">whatever the page shows</option>
          <option value="this">{source.title} alone</option>
        </select>
      </label>
      <p class="actions">
        <select
          aria-label="Where to draw it"
          value={target.value}
          onChange={({ currentTarget }) => (target.value = currentTarget.value)}
        >
          <option value="">in a new chart</option>
          {view.value.charts.map(({ id, title }) => (
            <option key={id} value={id}>
              in {title}
            </option>
          ))}
        </select>
        <button type="button" class="primary" onClick={add}>
          Draw
        </button>
      </p>
    </section>
  )
}
