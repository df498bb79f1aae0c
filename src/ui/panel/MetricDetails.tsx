/** Details of a metric, with a form that adds it or some of its instances to a chart. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import type { MetricDetails as Details, InstanceInfo } from '../data/responses.ts'
import type { Source } from '../data/source.ts'
import { showNotice } from '../page.ts'
import { type InstanceChoice, isChosen, type Plot } from '../view/view.ts'
import { ChartTarget } from './ChartTarget.tsx'
import { addChart, addPlots } from './edit-view.ts'

/** Maximum number of instances listed; a pattern finds the others. */
const MOST_INSTANCES = 300

/** Adds a plot to an existing chart or a new one. */
export function addPlot(plot: Plot, chartId: string | undefined): void {
  const title = plot.expr ?? plot.metric
  if (chartId === undefined) {
    addChart(title, [plot])
    showNotice(`Added a chart for ${title} at the end of the page`)
  } else {
    addPlots(chartId, [plot])
    showNotice(`Added ${title}`)
  }
}

/** Renders the details of a metric and the form. */
export function MetricDetails({
  source,
  name,
}: {
  readonly source: Source
  readonly name: string
}): ComponentChild {
  const details = useSignal<Details | undefined>(undefined)
  const instances = useSignal<readonly InstanceInfo[]>([])
  const picked = useSignal<ReadonlySet<string>>(new Set())
  const pattern = useSignal('')
  const target = useSignal<string | undefined>(undefined)
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
    const chartId = target.value
    if (picked.value.size === 0) {
      addPlot({ metric: name, ...pinned, ...(choice === undefined ? {} : { instances: choice }) }, chartId)
      return
    }
    const plots = [...picked.value].map(
      (text): Plot => ({ metric: name, ...pinned, instances: { mode: 'instance', text } }),
    )
    if (chartId === undefined) addChart(name, plots)
    else addPlots(chartId, plots)
    showNotice(`Added ${plots.length === 1 ? '1 instance' : `${plots.length} instances`} of ${name}`)
  }
  const pick = (instance: string): void => {
    const next = new Set(picked.value)
    if (!next.delete(instance)) next.add(instance)
    picked.value = next
  }
  const matching =
    choice === undefined
      ? instances.value
      : instances.value.filter((one) => picked.value.has(one.name) || isChosen(choice, one.name))
  const listed = matching.slice(0, MOST_INSTANCES)
  const hint = hintOf(instances.value.length, matching.length, picked.value.size, choice !== undefined)
  const labels = Object.entries(metric.labels)
  return (
    <section class="details" aria-label={name}>
      <h3>{name}</h3>
      <p>{metric.help}</p>
      {metric.text !== '' && metric.text !== metric.help && (
        <div class="text">
          {paragraphs(metric.text).map((paragraph) => (
            <p key={paragraph}>{paragraph}</p>
          ))}
        </div>
      )}
      <dl class="facts">
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
            <dd class="labels">
              {labels.map(([key, value]) => (
                <span key={key} title={`${key}=${String(value)}`}>{`${key}=${String(value)}`}</span>
              ))}
            </dd>
          </>
        )}
      </dl>
      {metric.indom !== null && (
        <fieldset>
          <legend>
            {instances.value.length === 1 ? '1 instance' : `${instances.value.length} instances`}
          </legend>
          <p class="hint">{hint}</p>
          <input
            aria-label="Instance pattern"
            placeholder="Pattern, e.g. ^sd"
            value={pattern.value}
            onInput={({ currentTarget }) => (pattern.value = currentTarget.value)}
          />
          <div class="instances">
            {listed.map((instance) => (
              <button
                type="button"
                key={instance.id}
                aria-pressed={
                  picked.value.size > 0
                    ? picked.value.has(instance.name)
                    : choice !== undefined && isChosen(choice, instance.name)
                }
                onClick={() => pick(instance.name)}
              >
                {instance.name}
              </button>
            ))}
          </div>
          {matching.length > listed.length && (
            <p class="more">{matching.length - listed.length} more; enter a pattern to find them</p>
          )}
        </fieldset>
      )}
      <label>
        <span class="label">Source</span>
        <select
          value={isPinned.value ? 'this' : 'page'}
          onChange={({ currentTarget }) => {
            isPinned.value = currentTarget.value === 'this'
          }}
        >
          <option value="page">Any host</option>
          <option value="this">{source.title} only</option>
        </select>
      </label>
      <p class="actions">
        <ChartTarget name="Add metric to" target={target} />
        <button type="button" class="primary" onClick={add}>
          Add
        </button>
      </p>
    </section>
  )
}

/** Describes which instances will be charted. */
function hintOf(all: number, matching: number, picked: number, hasPattern: boolean): string {
  if (all === 0) return 'No instances now; new ones are charted as they appear.'
  if (picked > 0) return `${picked} selected; only these are charted.`
  if (hasPattern)
    return matching === 0
      ? 'No instance matches.'
      : `${matching} match; new instances that match are charted too.`
  return 'All are charted unless you select some or enter a pattern.'
}

/** Joins the lines of help texts, which are wrapped for terminals, but keeps lists and tables. */
function paragraphs(text: string): string[] {
  return text
    .trim()
    .split(/\n\s*\n/)
    .map((part) => (/\n[\s*\-+]/.test(part) ? part : part.replace(/\s*\n/g, ' ')))
}
