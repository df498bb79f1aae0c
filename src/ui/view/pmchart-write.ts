/** Writes PCP view files for pmchart(1). */
import { STYLES } from './pmchart.ts'
import { type Chart, hostOf, type Plot } from './view.ts'

/** Chart styles that pmchart knows. */
const KNOWN: ReadonlySet<string> = new Set(Object.values(STYLES))
const LONGEST = 255

/** A view file, and a sentence for each part of the view that it cannot express. */
export interface WrittenView {
  readonly text: string
  readonly losses: readonly string[]
}

/** Quotes a word. View files have no escapes, so quotes and line breaks are replaced. */
const quoted = (text: string): string =>
  `"${text.replaceAll('"', "'").replace(/\s+/g, ' ').slice(0, LONGEST)}"`

const plural = (count: number, one: string, many: string): string =>
  count === 1 ? `1 ${one}` : `${count} ${many}`

/**
 * Writes charts as a view file. Patterns, optional plots, wildcards and tabs are kept; plots of expressions are left out, and other
 * styles become lines. `hex` converts a CSS colour to #rrggbb.
 */
export function writeViewFile(
  name: string,
  charts: readonly Chart[],
  hex: (color: string) => string | undefined,
): WrittenView {
  const lines = ['#kmchart', 'version 1']
  let expressions = 0
  let archives = 0
  let tab: string | undefined
  for (const { title, style, scale, legend, plots, tab: own } of charts) {
    const label = own ?? tab ?? name
    if (label !== tab) lines.push('', `tab ${quoted(label)}`)
    tab = label
    const written = plots.filter(({ expr }) => expr === undefined)
    expressions += plots.length - written.length
    archives += written.filter(({ source }) => source !== undefined && hostOf(source) === undefined).length
    lines.push(
      '',
      [
        'chart',
        ...(title === '' ? [] : ['title', quoted(title)]),
        'style',
        KNOWN.has(style) ? style : 'plot',
        ...(scale === undefined ? [] : ['scale from', String(scale[0]), 'to', String(scale[1])]),
        'legend',
        legend ? 'on' : 'off',
      ].join(' '),
      ...written.map((plot) => plotLine(plot, hex)),
    )
  }
  const others = charts.filter(({ style }) => !KNOWN.has(style)).length
  const losses = [
    ...(expressions > 0 ? [`${plural(expressions, 'expression was', 'expressions were')} left out`] : []),
    ...(others > 0
      ? [`${plural(others, 'heat map, grid or table became', 'heat maps, grids or tables became')} lines`]
      : []),
    ...(archives > 0
      ? [`${plural(archives, 'plot of an archive applies', 'plots of archives apply')} to any host`]
      : []),
  ]
  return { text: `${lines.join('\n')}\n`, losses }
}

function plotLine(
  { metric, instances, legend, color, source, optional }: Plot,
  hex: (color: string) => string | undefined,
): string {
  const shown = color === undefined ? undefined : hex(color)
  const host = source === undefined ? undefined : hostOf(source)
  return [
    optional ? '\toptional-plot' : '\tplot',
    ...(legend === undefined ? [] : ['legend', quoted(legend)]),
    'color',
    shown ?? '#-cycle',
    ...(host === undefined ? [] : ['host', wordOf(host)]),
    'metric',
    wordOf(metric),
    ...(instances === undefined ? [] : [instances.mode, quoted(instances.text)]),
  ].join(' ')
}

const wordOf = (text: string): string => (/[\s"]/.test(text) ? quoted(text) : text)
