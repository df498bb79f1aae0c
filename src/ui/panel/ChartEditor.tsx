/** The chart editor: title, style, limits, and plots with their instances and colours. */
import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { CHART_KINDS } from '../chart/kinds/registry.ts'
import type { Source } from '../data/source.ts'
import { changeChart, currentSource, editing, sources, view } from '../page.ts'
import { paletteColor, resolveColor } from '../theme.ts'
import { isPattern } from '../view/patterns.ts'
import { type Chart, type InstanceChoice, isChosen, type Plot } from '../view/view.ts'
import { ExpressionField } from './ExpressionField.tsx'
import { Icon } from './Icon.tsx'

/** Renders the dialogue while a chart is edited. */
export function ChartEditor(): ComponentChild {
  const chart = view.value.charts.find(({ id }) => id === editing.value)
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (chart !== undefined && ref.current?.open === false) ref.current.showModal()
  }, [chart?.id])
  if (chart === undefined) return null
  const set = (change: Partial<Chart>): void => changeChart(chart.id, change)
  const setPlot = (at: number, plot: Plot | undefined): void =>
    set({ plots: chart.plots.flatMap((one, i) => (i !== at ? one : (plot ?? []))) })
  return (
    <dialog
      ref={ref}
      class="editor"
      aria-label={`Edit ${chart.title}`}
      onClose={() => (editing.value = undefined)}
    >
      <form method="dialog" id="chart-editor">
        <h2>Edit chart</h2>
        <label>
          <span class="label">Title</span>
          <input value={chart.title} onInput={({ currentTarget }) => set({ title: currentTarget.value })} />
        </label>
        <label>
          <span class="label">Style</span>
          <select value={chart.style} onChange={({ currentTarget }) => set({ style: currentTarget.value })}>
            {CHART_KINDS.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <Limits chart={chart} />
        <label class="check">
          <input
            type="checkbox"
            checked={chart.legend}
            onChange={({ currentTarget }) => set({ legend: currentTarget.checked })}
          />
          Legend
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={chart.wide === true}
            onChange={({ currentTarget }) => set({ wide: currentTarget.checked })}
          />
          Full width
        </label>
      </form>
      <ol class="plots">
        {chart.plots.map((plot, i) => (
          <li key={`${i} ${plot.metric}`}>
            <PlotEditor
              plot={plot}
              color={plot.color ?? paletteColor(i)}
              onChange={(changed) => setPlot(i, changed)}
            />
          </li>
        ))}
      </ol>
      {currentSource.value !== undefined && (
        <ExpressionField
          source={currentSource.value}
          action="Add"
          onDone={(plot) => set({ plots: [...chart.plots, plot] })}
        />
      )}
      <p class="actions">
        <button type="submit" form="chart-editor" class="primary">
          Done
        </button>
      </p>
    </dialog>
  )
}

/** Fixed limits of the axis: both or none. */
function Limits({ chart }: { readonly chart: Chart }): ComponentChild {
  const { scale } = chart
  const set = (low: string, high: string): void => {
    const limits: readonly [number, number] = [Number(low), Number(high)]
    const isGood = low !== '' && high !== '' && limits.every(Number.isFinite) && limits[1] > limits[0]
    const { scale: _, ...rest } = chart
    view.value = {
      name: view.value.name,
      charts: view.value.charts.map((one) =>
        one.id === chart.id ? (isGood ? { ...rest, scale: limits } : rest) : one,
      ),
    }
  }
  const texts = scale === undefined ? ['', ''] : scale.map(String)
  return (
    <p class="limits">
      <span class="label">Axis</span>
      <input
        type="number"
        step="any"
        aria-label="Minimum"
        placeholder="min"
        defaultValue={texts[0]}
        onChange={({ currentTarget }) => set(currentTarget.value, inputAfter(currentTarget))}
      />
      <input
        type="number"
        step="any"
        aria-label="Maximum"
        placeholder="max"
        defaultValue={texts[1]}
        onChange={({ currentTarget }) => set(inputBefore(currentTarget), currentTarget.value)}
      />
    </p>
  )
}

const inputAfter = (input: HTMLInputElement): string => (input.nextElementSibling as HTMLInputElement).value
const inputBefore = (input: HTMLInputElement): string =>
  (input.previousElementSibling as HTMLInputElement).value

const MODES: readonly (readonly [InstanceChoice['mode'] | 'all', string])[] = [
  ['all', 'all instances'],
  ['instance', 'only'],
  ['matching', 'matching'],
  ['not-matching', 'not matching'],
]

interface PlotProps {
  readonly plot: Plot
  readonly onChange: (plot: Plot | undefined) => void
}

function PlotEditor({ plot, color, onChange }: PlotProps & { readonly color: string }): ComponentChild {
  const isTyping = useSignal(false)
  const source = plot.source === undefined ? currentSource.value : sources.value.get(plot.source)
  const { expr } = plot
  return (
    <div class="plot-editor">
      <input
        type="color"
        aria-label={`Colour of ${plot.metric}`}
        value={hexColor(color) ?? '#888888'}
        onChange={({ currentTarget }) => onChange({ ...plot, color: currentTarget.value })}
      />
      {expr === undefined ? (
        <span class="code" title={plot.metric}>
          {plot.metric}
        </span>
      ) : (
        <button
          type="button"
          class="code"
          aria-expanded={isTyping.value}
          title={`${expr}\nClick to edit`}
          onClick={() => (isTyping.value = !isTyping.value)}
        >
          {expr}
        </button>
      )}
      <input
        aria-label={`Legend of ${plot.metric}`}
        placeholder="Legend"
        value={plot.legend ?? ''}
        onChange={({ currentTarget }) => {
          const { legend: _, ...rest } = plot
          onChange(currentTarget.value === '' ? rest : { ...plot, legend: currentTarget.value })
        }}
      />
      <Instances plot={plot} source={source} onChange={onChange} />
      <SourceOf plot={plot} onChange={onChange} />
      <button
        type="button"
        class="danger"
        aria-label={`Remove ${plot.metric}`}
        onClick={() => onChange(undefined)}
      >
        <Icon name="close" />
      </button>
      {isTyping.value && expr !== undefined && source !== undefined && (
        <ExpressionField
          source={source}
          initial={expr}
          action="Update"
          onDone={(changed) => onChange({ ...plot, ...changed })}
        />
      )}
    </div>
  )
}

/** Selects the instances of a plot, and counts those selected. */
function Instances({
  plot,
  source,
  onChange,
}: PlotProps & { readonly source: Source | undefined }): ComponentChild {
  const { instances, ...without } = plot
  const known = useSignal<readonly string[]>([])
  const id = useId()
  const isAsked = instances !== undefined && plot.expr === undefined
  useEffect(() => {
    if (!isAsked || source === undefined) return
    let isCurrent = true
    source.instances(plot.metric).then(
      (found) => {
        if (isCurrent) known.value = found.map(({ name }) => name)
      },
      () => {}, // the chart shows the error
    )
    return () => {
      isCurrent = false
    }
  }, [isAsked, source, plot.metric])
  const setMode = (mode: InstanceChoice['mode'] | 'all'): void =>
    onChange(mode === 'all' ? without : { ...plot, instances: { mode, text: instances?.text ?? '' } })
  return (
    <>
      <select
        aria-label={`Instances of ${plot.metric}`}
        value={instances?.mode ?? 'all'}
        onChange={({ currentTarget }) => setMode(currentTarget.value as InstanceChoice['mode'] | 'all')}
      >
        {MODES.map(([mode, text]) => (
          <option key={mode} value={mode}>
            {text}
          </option>
        ))}
      </select>
      {instances !== undefined && (
        <>
          <input
            aria-label={`Instance name or pattern for ${plot.metric}`}
            aria-invalid={instances.mode !== 'instance' && !isPattern(instances.text)}
            list={instances.mode === 'instance' ? id : undefined}
            value={instances.text}
            onInput={({ currentTarget }) =>
              onChange({ ...plot, instances: { mode: instances.mode, text: currentTarget.value } })
            }
          />
          <datalist id={id}>
            {known.value.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <small role="status">{chosenText(instances, known.value)}</small>
        </>
      )}
    </>
  )
}

function chosenText(choice: InstanceChoice, known: readonly string[]): string {
  if (choice.mode !== 'instance' && !isPattern(choice.text)) return 'invalid pattern'
  if (known.length === 0) return ''
  return `${known.filter((name) => isChosen(choice, name)).length} of ${known.length}`
}

/** Selects the source of a plot; hidden while there is only one. */
function SourceOf({ plot, onChange }: PlotProps): ComponentChild {
  const { source, ...free } = plot
  const known = [...sources.value.values()].map(({ key, title }) => [key, title] as const)
  if (source === undefined && known.length < 2) return null
  if (source !== undefined && !sources.value.has(source)) known.push([source, source])
  return (
    <select
      aria-label={`Source of ${plot.metric}`}
      value={source ?? ''}
      onChange={({ currentTarget: { value } }) => onChange(value === '' ? free : { ...plot, source: value })}
    >
      <option value="">Any host</option>
      {known.map(([key, title]) => (
        <option key={key} value={key}>
          {title}
        </option>
      ))}
    </select>
  )
}

/** Returns a colour as #rrggbb; undefined if it is transparent or unknown. */
export function hexColor(color: string): string | undefined {
  const canvas = document.createElement('canvas').getContext('2d')
  if (canvas === null || color === 'transparent') return undefined
  const read = (before: string): unknown => {
    canvas.fillStyle = before
    canvas.fillStyle = resolveColor(color)
    return canvas.fillStyle
  }
  // A canvas ignores unknown colours.
  const found = read('#000000')
  return typeof found === 'string' && found.startsWith('#') && found === read('#ffffff') ? found : undefined
}
