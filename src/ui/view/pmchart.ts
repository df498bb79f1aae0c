/** Reads PCP view files: the grammar of pmchart(1). */
import { isPattern } from './patterns.ts'
import { type Chart, hostKey, type InstanceChoice, newId, type Plot } from './view.ts'

/** A mistake in a view file. */
export interface ViewMistake {
  /** From 1. */
  readonly line: number
  /** Position in the line, from 0. */
  readonly at: number
  /** The line. */
  readonly text: string
  readonly message: string
}

/** Contents of a view file, up to the first syntax error. */
export interface ReadView {
  readonly charts: readonly Chart[]
  /** Window settings of its `global` lines: `points`, `width` ... */
  readonly globals: Readonly<Record<string, number>>
  /** Labels of its tabs. */
  readonly tabs: readonly string[]
  /** Hosts it names other than `*`, for which the page may have no source. */
  readonly hosts: readonly string[]
  readonly mistakes: readonly ViewMistake[]
}

/** Maximum length of a word in PCP. */
const LONGEST = 255

/** PCP's names of chart styles. */
export const STYLES: Readonly<Record<string, string>> = {
  plot: 'plot',
  line: 'plot',
  bar: 'bar',
  stacking: 'stacking',
  area: 'area',
  utilization: 'utilization',
  event: 'bar',
}

/** A word of a line without its quotes, and its column. */
interface Word {
  readonly text: string
  readonly at: number
  readonly isQuoted: boolean
}

class Mistake extends Error {
  readonly at: number

  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

/**
 * Reads a view file of either type. Never throws; the result lists the mistakes. `isColor` checks names of colours. An unknown colour or
 * an invalid pattern is a mistake and is left out of its plot.
 */
export function readViewFile(text: string, isColor: (color: string) => boolean): ReadView {
  const mistakes: ViewMistake[] = []
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  let row = 0
  const note = ({ message, at }: Mistake): void => {
    mistakes.push({ line: row + 1, at, text: lines[row]!, message })
  }
  const reader = new ViewReader(isColor, note)
  for (; row < lines.length; row++)
    try {
      reader.line(lines[row]!, row)
    } catch (error) {
      if (!(error instanceof Mistake)) throw error
      note(error)
      break
    }
  return { ...reader.finish(), mistakes }
}

class ViewReader {
  readonly #isColor: (color: string) => boolean
  /** Records a mistake after which reading continues. */
  readonly #note: (mistake: Mistake) => void
  readonly #charts: Omit<Chart, 'plots'>[] = []
  readonly #plots: Plot[][] = []
  readonly #globals: Record<string, number> = {}
  readonly #tabs: { readonly label: string; readonly host: string | undefined }[] = []
  readonly #hosts = new Set<string>()
  readonly #schemes = new Map<string, { readonly colors: readonly string[]; next: number }>()
  #scheme: string | undefined
  #isOld = false
  #hasVersion = false
  /** Length of the line. */
  #end = 0

  constructor(isColor: (color: string) => boolean, note: (mistake: Mistake) => void) {
    this.#isColor = isColor
    this.#note = note
  }

  line(line: string, number: number): void {
    const words = split(line)
    this.#end = line.length
    const first = words[0]?.text.toLowerCase()
    if (number === 0) {
      if (line.startsWith('#!'))
        throw new Mistake('this file is a script that prints a view; run it and open its output', 0)
      if (first === 'pmview')
        throw new Mistake('3-D scenes cannot be opened; the view Grids of bars shows similar data', 0)
      if (first !== '#kmchart' && first !== '#pmchart') throw this.#expecting('#kmchart', words[0])
      this.#isOld = first === '#pmchart'
      return
    }
    if (first === undefined || first.startsWith('#')) return
    const long = words.find(({ text }) => text.length > LONGEST)
    if (long !== undefined) throw new Mistake(`a word of more than ${LONGEST} characters`, long.at)
    if (!this.#hasVersion) {
      if (first !== 'version') throw this.#expecting('version', words[0])
      this.#version(words)
      return
    }
    switch (first) {
      case 'global':
        this.#global(words)
        return
      case 'scheme':
        this.#readScheme(words)
        return
      case 'tab':
      case 'view':
        this.#tab(words)
        return
      case 'chart':
        this.#chart(words)
        return
      case 'plot':
      case 'optional-plot':
        this.#plot(words, line)
        return
      default:
        throw this.#expecting('chart, plot, tab, scheme or global', words[0])
    }
  }

  #version(words: readonly Word[]): void {
    const version = this.#need(words[1], 'a version')
    const isKnown = this.#isOld ? /^(1\.[12]|2\.[01])$/.test(version) : version === '1'
    if (!isKnown) throw this.#expecting(this.#isOld ? 'version 1.1, 1.2, 2.0 or 2.1' : 'version 1', words[1])
    this.#hasVersion = true
  }

  #global(words: readonly Word[]): void {
    const name = words[1]?.text.toLowerCase() ?? ''
    if (!/^(width|height|points|xpos|ypos)$/.test(name))
      throw this.#expecting('width, height, points, xpos or ypos', words[1])
    // The largest of several values counts.
    this.#globals[name] = Math.max(this.#globals[name] ?? 0, this.#number(words[2]))
  }

  #tab(words: readonly Word[]): void {
    const label = this.#need(words[1], 'a label')
    let host: string | undefined
    for (let i = 2; i < words.length; i += 2) {
      const keyword = words[i]!.text.toLowerCase()
      if (keyword === 'host') host = this.#host(words[i + 1])
      else if (keyword === 'points' || keyword === 'samples') this.#number(words[i + 1])
      else throw this.#expecting('host, points or samples', words[i])
    }
    this.#tabs.push({ label, host })
  }

  #readScheme(words: readonly Word[]): void {
    const name = this.#need(words[1], 'the name of a scheme')
    if (words.length < 4) throw this.#expecting('at least two colours', undefined)
    const colors = words.slice(2).flatMap((word) => this.#known(word) ?? [])
    if (!this.#schemes.has(name) && colors.length > 0) this.#schemes.set(name, { colors, next: 0 })
    this.#scheme = name
  }

  #chart(words: readonly Word[]): void {
    let title = ''
    let style = 'plot'
    let scale: readonly [number, number] | undefined
    let legend = true
    if (words.length < 2) throw this.#expecting('title, style, scale or legend', undefined)
    for (let i = 1; i < words.length; ) {
      const keyword = words[i]!.text.toLowerCase()
      if (keyword === 'title') {
        title = this.#need(words[i + 1], 'a title')
        i += 2
      } else if (keyword === 'style') {
        const name = this.#need(words[i + 1], 'a style').toLowerCase()
        const known = Object.hasOwn(STYLES, name) ? STYLES[name] : undefined
        if (known === undefined) throw this.#expecting(Object.keys(STYLES).join(', '), words[i + 1])
        style = known
        i += 2
      } else if (keyword === 'scale') {
        let at = i + 1
        if (words[at]?.text.toLowerCase() === 'from') at++
        const low = this.#number(words[at++])
        if (words[at]?.text.toLowerCase() === 'to') at++
        scale = [low, this.#number(words[at++])]
        i = at
      } else if (keyword === 'legend' || keyword === 'antialiasing') {
        const value = this.#need(words[i + 1], 'on or off').toLowerCase()
        if (value !== 'on' && value !== 'off') throw this.#expecting('on or off', words[i + 1])
        if (keyword === 'legend') legend = value === 'on'
        i += 2
      } else throw this.#expecting('title, style, scale, legend or antialiasing', words[i])
    }
    const tab = this.#tabs.at(-1)?.label
    this.#charts.push({
      id: newId(),
      title,
      style,
      legend,
      ...(scale === undefined ? {} : { scale }),
      ...(tab === undefined ? {} : { tab }),
    })
    this.#plots.push([])
  }

  #plot(words: readonly Word[], line: string): void {
    const plots = this.#plots.at(-1)
    if (plots === undefined) throw this.#expecting('chart', words[0])
    const made: { -readonly [K in keyof Plot]: Plot[K] } = { metric: '' }
    if (words[0]!.text.toLowerCase() === 'optional-plot') made.optional = true
    let i = 1
    const keyword = (): string => words[i]?.text.toLowerCase() ?? ''
    if (keyword() === 'title' || keyword() === 'legend') {
      made.legend = this.#need(words[i + 1], 'a legend')
      i += 2
    }
    if (keyword() === 'color' || keyword() === 'colour') {
      const color = this.#colorOf(words[i + 1])
      if (color !== undefined) made.color = color
      i += 2
    } else {
      const color = this.#nextOf(this.#scheme)
      if (color !== undefined) made.color = color
    }
    let host = this.#tabs.at(-1)?.host
    if (keyword() === 'host') {
      host = this.#host(words[i + 1])
      i += 2
    }
    if (host !== undefined) made.source = hostKey(host)
    if (keyword() !== 'metric') throw this.#expecting('metric', words[i])
    made.metric = this.#need(words[i + 1], 'a metric')
    i += 2
    if (i < words.length) made.instances = this.#instances(words, i, line)
    plots.push(made)
  }

  #instances(words: readonly Word[], i: number, line: string): InstanceChoice {
    const mode = words[i]!.text.toLowerCase()
    if (mode !== 'instance' && mode !== 'matching' && mode !== 'not-matching')
      throw this.#expecting('instance, matching or not-matching', words[i])
    const first = words[i + 1]
    if (first === undefined)
      throw this.#expecting(mode === 'instance' ? 'an instance' : 'a pattern', undefined)
    const isRest = this.#isOld && !first.isQuoted
    const text = isRest ? line.slice(first.at).trim().replace(/\s+/g, ' ') : first.text
    if (mode !== 'instance' && !isPattern(text))
      this.#note(new Mistake(`"${text}" is not a valid pattern and matches nothing`, first.at))
    return { mode, text }
  }

  #colorOf(word: Word | undefined): string | undefined {
    const text = this.#need(word, 'a colour')
    if (text === '#-cycle') return undefined
    return this.#schemes.has(text) ? this.#nextOf(text) : this.#known(word!)
  }

  /** Returns a colour in CSS notation. */
  #known({ text, at }: Word): string | undefined {
    const color = colorOf(text)
    if (this.#isColor(color)) return color
    this.#note(new Mistake(`"${text}" is not a colour`, at))
    return undefined
  }

  #host(word: Word | undefined): string | undefined {
    const host = this.#need(word, 'a host')
    if (host === '*') return undefined
    this.#hosts.add(host)
    return host
  }

  #need(word: Word | undefined, what: string): string {
    if (word === undefined) throw this.#expecting(what, undefined)
    return word.text
  }

  #number(word: Word | undefined): number {
    const number = Number(this.#need(word, 'a number') || Number.NaN)
    if (!Number.isFinite(number)) throw this.#expecting('a number', word)
    return number
  }

  #expecting(what: string, found: Word | undefined): Mistake {
    const text = found === undefined ? 'the end of the line' : `"${found.text}"`
    return new Mistake(`expecting ${what}, found ${text}`, found?.at ?? this.#end)
  }

  #nextOf(scheme: string | undefined): string | undefined {
    const known = scheme === undefined ? undefined : this.#schemes.get(scheme)
    return known?.colors[known.next++ % known.colors.length]
  }

  finish(): Omit<ReadView, 'mistakes'> {
    const tabs = this.#tabs.map(({ label }) => label)
    const charts = this.#charts.map(({ tab, ...chart }, i) => ({
      ...chart,
      plots: this.#plots[i]!,
      // A single tab names the whole view.
      ...(tab === undefined || tabs.length === 1 ? {} : { tab }),
    }))
    return { charts, globals: this.#globals, tabs, hosts: [...this.#hosts] }
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

/** Converts PCP's colour notations to CSS. */
function colorOf(text: string): string {
  // The manual page uses colons, the tool accepts slashes.
  const reals = /^rgbi:(\d*\.?\d*)[/:](\d*\.?\d*)[/:](\d*\.?\d*)$/i.exec(text)
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
