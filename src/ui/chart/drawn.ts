/** What charts are drawn from: on the page, and in pictures. */
import type { Signal } from '@preact/signals'
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import type { Frame } from '../time/control.ts'
import type { Chart } from '../view/view.ts'
import type { Pointed } from './pointed.ts'
import type { SharedScale } from './shared-scale.ts'

/** How a chart is shown on the page. */
export interface ViewProps {
  readonly chart: Chart
  readonly data: ChartData
  readonly frame: Frame
  /** Keys of lines that are not drawn. */
  readonly hidden: ReadonlySet<string>
  /** The scale that it has together with other charts. */
  readonly scale: SharedScale | undefined
  /** Position of the crosshair. */
  readonly cursor: Signal<Pointed | undefined>
  /** The age of lines that are old, once the rest of the page has arrived. */
  readonly oldText: ((data: ChartData, lines: readonly ChartLine[]) => string | undefined) | undefined
}

/** What a picture is of. */
export interface Drawn {
  readonly chart: Chart
  readonly title: string
  readonly data: ChartData
  /** Keys of lines that are not drawn. */
  readonly hidden: ReadonlySet<string>
  readonly frame: Frame
  /** Name of the zone, '' for the reader's own. */
  readonly zone: string
}

/** A part of a picture: its top is 0. */
export interface Body {
  readonly parts: readonly string[]
  readonly height: number
}

/** Colours of the page by their names there. */
export type ColorOf = (name: string) => string
