/** PCP's view files, read and written. spec/tools/views.md */
import { type Chart, type ChartStyle, type InstanceChoice, newId, type Plot } from './view.ts'

/** A line of a view file that could not be understood. */
export interface ViewMistake {
  /** From 1. */
  readonly line: number
  readonly message: string
}

/** What a view file holds: as much as there is before the first mistake. */
export interface ReadView {
  readonly charts: readonly Chart[]
  /** Labels of its tabs. */
  readonly tabs: readonly string[]
  /** Hosts it names other than `*`, which the reader may have no source for. */
  readonly hosts: readonly string[]
  readonly mistakes: readonly ViewMistake[]
}

const STYLES: Readonly<Record<string, ChartStyle>> = {
  plot: 'plot',
  line: 'plot',
  bar: 'bar',
  stacking: 'stacking',
  area: 'area',
  utilization: 'utilization',
  event: 'bar',
}

/** The words of a line, each with its quotes taken off and the column it starts at. */
interface Word {
  readonly text: string
  readonly at: number
  readonly isQuoted: boolean
}

class Mistake extends Error {}

/** Reads a file of either type. Never throws: mistakes are in what it returns. */
export function readViewFile(text: string): ReadView {
  const reader = new ViewReader()
  const mistakes: ViewMistake[] = []
  const lines = text.split(/\r?\n/)
  for (const [i, line] of lines.entries())
    try {
      reader.line(line, i)
    } catch (error) {
      if (!(error instanceof Mistake)) throw error
      mistakes.push({ line: i + 1, message: error.message })
      break
    }
  return { ...reader.finish(), mistakes }
}

class ViewReader {
  readonly #charts: Omit<Chart, 'plots'>[] = []
  readonly #plots: Plot[][] = []
  readonly #tabs: string[] = []
  readonly #hosts = new Set<string>()
  readonly #schemes = new Map<string, { readonly colors: readonly string[]; next: number }>()
  #scheme: string | undefined
  #isOld = false
  #hasVersion = false

  line(line: string, number: number): void {
    const words = split(line)
    const first = words[0]?.text.toLowerCase()
    if (number === 0) {
      if (first !== '#kmchart' && first !== '#pmchart') throw expecting('#kmchart', first)
      this.#isOld = first === '#pmchart'
      return
    }
    if (first === undefined || first.startsWith('#')) return
    if (!this.#hasVersion) {
      if (first !== 'version') throw expecting('version', words[0]?.text)
      this.#version(words)
      return
    }
    switch (first) {
      case 'global':
        if (!/^(width|height|points|xpos|ypos)$/i.test(words[1]?.text ?? ''))
          throw expecting('width, height, points, xpos or ypos', words[1]?.text)
        return
      case 'scheme':
        this.#readScheme(words)
        return
      case 'tab':
      case 'view':
        this.#tabs.push(need(words[1], 'a label'))
        return
      case 'chart':
        this.#chart(words)
        return
      case 'plot':
      case 'optional-plot':
        this.#plot(words, line)
        return
      default:
        throw expecting('chart, plot, tab, scheme or global', words[0]!.text)
    }
  }

  #version(words: readonly Word[]): void {
    const version = need(words[1], 'a version')
    const isKnown = this.#isOld ? /^(1\.[12]|2\.[01])$/.test(version) : version === '1'
    if (!isKnown) throw expecting(this.#isOld ? 'version 1.1, 1.2, 2.0 or 2.1' : 'version 1', version)
    this.#hasVersion = true
  }

  #readScheme(words: readonly Word[]): void {
    const name = need(words[1], 'the name of a scheme')
    if (words.length < 4) throw expecting('at least two colours', undefined)
    if (!this.#schemes.has(name))
      this.#schemes.set(name, { colors: words.slice(2).map(({ text }) => colorOf(text)), next: 0 })
    this.#scheme = name
  }

  #chart(words: readonly Word[]): void {
    let title = ''
    let style: ChartStyle = 'plot'
    let scale: readonly [number, number] | undefined
    let legend = true
    if (words.length < 2) throw expecting('title, style, scale or legend', undefined)
    for (let i = 1; i < words.length; ) {
      const keyword = words[i]!.text.toLowerCase()
      if (keyword === 'title') {
        title = need(words[i + 1], 'a title')
        i += 2
      } else if (keyword === 'style') {
        const name = need(words[i + 1], 'a style').toLowerCase()
        const known = STYLES[name]
        if (known === undefined) throw expecting(Object.keys(STYLES).join(', '), words[i + 1]!.text)
        style = known
        i += 2
      } else if (keyword === 'scale') {
        let at = i + 1
        if (words[at]?.text.toLowerCase() === 'from') at++
        const low = numberOf(words[at++])
        if (words[at]?.text.toLowerCase() === 'to') at++
        scale = [low, numberOf(words[at++])]
        i = at
      } else if (keyword === 'legend' || keyword === 'antialiasing') {
        const value = need(words[i + 1], 'on or off').toLowerCase()
        if (value !== 'on' && value !== 'off') throw expecting('on or off', words[i + 1]!.text)
        if (keyword === 'legend') legend = value === 'on'
        i += 2
      } else throw expecting('title, style, scale, legend or antialiasing', words[i]!.text)
    }
    this.#charts.push({ id: newId(), title, style, legend, ...(scale === undefined ? {} : { scale }) })
    this.#plots.push([])
  }

  #plot(words: readonly Word[], line: string): void {
    const plots = this.#plots.at(-1)
    if (plots === undefined) throw expecting('chart', words[0]!.text)
    const made: { -readonly [K in keyof Plot]: Plot[K] } = { metric: '' }
    if (words[0]!.text.toLowerCase() === 'optional-plot') made.optional = true
    let i = 1
    const keyword = (): string => words[i]?.text.toLowerCase() ?? ''
    if (keyword() === 'title' || keyword() === 'legend') {
      made.legend = need(words[i + 1], 'a legend')
      i += 2
    }
    if (keyword() === 'color' || keyword() === 'colour') {
      const color = this.#colorOf(need(words[i + 1], 'a colour'))
      if (color !== undefined) made.color = color
      i += 2
    } else {
      const color = this.#nextOf(this.#scheme)
      if (color !== undefined) made.color = color
    }
    if (keyword() === 'host') {
      const host = need(words[i + 1], 'a host')
      if (host !== '*') {
        made.source = `host:${host}`
        this.#hosts.add(host)
      }
      i += 2
    }
    if (keyword() !== 'metric') throw expecting('metric', words[i]?.text)
    made.metric = need(words[i + 1], 'a metric')
    i += 2
    if (i < words.length) made.instances = this.#instances(words, i, line)
    plots.push(made)
  }

  #instances(words: readonly Word[], i: number, line: string): InstanceChoice {
    const mode = words[i]!.text.toLowerCase()
    if (mode !== 'instance' && mode !== 'matching' && mode !== 'not-matching')
      throw expecting('instance, matching or not-matching', words[i]!.text)
    const first = words[i + 1]
    if (first === undefined) throw expecting(mode === 'instance' ? 'an instance' : 'a pattern', undefined)
    const isRest = this.#isOld && !first.isQuoted
    return { mode, text: isRest ? line.slice(first.at).trim().replace(/\s+/g, ' ') : first.text }
  }

  #colorOf(text: string): string | undefined {
    if (text === '#-cycle') return undefined
    return this.#schemes.has(text) ? this.#nextOf(text) : colorOf(text)
  }

  #nextOf(scheme: string | undefined): string | undefined {
    const known = scheme === undefined ? undefined : this.#schemes.get(scheme)
    return known?.colors[known.next++ % known.colors.length]
  }

  finish(): Pick<ReadView, 'charts' | 'tabs' | 'hosts'> {
    const charts = this.#charts.map((chart, i) => ({ ...chart, plots: this.#plots[i]! }))
    return { charts, tabs: this.#tabs, hosts: [...this.#hosts] }
  }
}

function split(line: string): Word[] {
  const words: Word[] = []
  for (let at = 0; at < line.length; ) {
    if (/\s/.test(line[at]!)) {
      at++
      continue
    }
    const isQuoted = line[at] === '"'
    const from = isQuoted ? at + 1 : at
    let end = from
    while (end < line.length && (isQuoted ? line[end] !== '"' : !/\s/.test(line[end]!))) end++
    words.push({ text: line.slice(from, end), at, isQuoted })
    at = isQuoted ? end + 1 : end
  }
  return words
}

function need(word: Word | undefined, what: string): string {
  if (word === undefined) throw expecting(what, undefined)
  return word.text
}

function numberOf(word: Word | undefined): number {
  const number = Number(need(word, 'a number'))
  if (Number.isNaN(number)) throw expecting('a number', word!.text)
  return number
}

function expecting(what: string, found: string | undefined): Mistake {
  return new Mistake(`expecting ${what}, found ${found === undefined ? 'the end of the line' : `"${found}"`}`)
}

/** PCP's ways to write a colour in those of CSS. */
function colorOf(text: string): string {
  const reals = /^rgbi:([\d.]+)\/([\d.]+)\/([\d.]+)$/i.exec(text)
  if (reals !== null)
    return `#${reals
      .slice(1)
      .map((part) => hex2(Math.round(255 * Math.min(1, Number(part)))))
      .join('')}`
  const long = /^#([\da-f]{9}|[\da-f]{12})$/i.exec(text)
  if (long !== null) {
    const digits = long[1]!
    const each = digits.length / 3
    return `#${[0, 1, 2].map((i) => digits.slice(i * each, i * each + 2)).join('')}`
  }
  return text.toLowerCase()
}

const hex2 = (value: number): string => value.toString(16).padStart(2, '0')

const quoted = (text: string): string => `"${text.replaceAll('"', "'")}"`

/**
 * Writes charts as PCP's own tool reads them. Patterns, optional plots and wildcards are kept; styles that PCP does not know become lines,
 * and plots of expressions are left out: a view file has no place for them. `hex` turns a colour of CSS into #rrggbb.
 */
export function writeViewFile(
  name: string,
  charts: readonly Chart[],
  hex: (color: string) => string | undefined,
): { readonly text: string; readonly leftOut: number } {
  const lines = ['#kmchart', 'version 1', '', `tab ${quoted(name)}`]
  let leftOut = 0
  for (const { title, style, scale, legend, plots } of charts) {
    const written = plots.filter(({ expr }) => expr === undefined)
    leftOut += plots.length - written.length
    const known = style in STYLES ? style : 'plot'
    const limits = scale === undefined ? '' : ` scale from ${scale[0].toFixed(6)} to ${scale[1].toFixed(6)}`
    lines.push('', `chart title ${quoted(title)} style ${known}${limits} legend ${legend ? 'on' : 'off'}`)
    for (const plot of written) lines.push(plotLine(plot, hex))
  }
  return { text: `${lines.join('\n')}\n`, leftOut }
}

function plotLine(
  { metric, instances, legend, color, source, optional }: Plot,
  hex: (color: string) => string | undefined,
): string {
  const shown = color === undefined ? undefined : hex(color)
  return [
    optional ? '\toptional-plot' : '\tplot',
    ...(legend === undefined ? [] : ['legend', quoted(legend)]),
    'color',
    shown ?? '#-cycle',
    ...(source?.startsWith('host:') ? ['host', source.slice(5)] : []),
    'metric',
    metric,
    ...(instances === undefined ? [] : [instances.mode, quoted(instances.text)]),
  ].join(' ')
}
