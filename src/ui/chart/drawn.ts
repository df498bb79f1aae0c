/** Input of chart views and image writers. */
import type { Signal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import type { ChartData, ChartLine } from '../data/chart-data.ts'
import type { MarkLayerProps } from '../marks/MarkLayer.tsx'
import type { Mark } from '../marks/marks.ts'
import type { Frame } from '../time/control.ts'
import type { Chart } from '../view/view.ts'
import type { Crosshair } from './crosshair.ts'
import type { SharedScale } from './shared-scale.ts'

/** Props of a chart view. */
export interface ViewProps {
  readonly chart: Chart
  readonly data: ChartData
  readonly frame: Frame
  /** Keys of lines that are not drawn. */
  readonly hidden: ReadonlySet<string>
  /** Scale shared with other charts. */
  readonly scale: SharedScale | undefined
  /** Position of the crosshair. */
  readonly cursor: Signal<Crosshair | undefined>
  /** Formats the age of old lines; undefined until the lazily loaded part is there. */
  readonly oldText: ((data: ChartData, lines: readonly ChartLine[]) => string | undefined) | undefined
  /** Draws marks over the plot; undefined until it is loaded, and for charts of sources to which the marks do not belong. */
  readonly Marks: ((props: MarkLayerProps) => ComponentChild) | undefined
}

/** Returns the attributes of an element whose values are read with keys. With this role screen readers leave the arrow keys to it. */
export const readable = (label: string) =>
  ({ role: 'application', 'aria-roledescription': 'chart', 'aria-label': label, tabIndex: 0 }) as const

/** Input of an image writer. */
export interface PictureInput {
  readonly chart: Chart
  readonly title: string
  readonly data: ChartData
  /** Keys of lines that are not drawn. */
  readonly hidden: ReadonlySet<string>
  readonly frame: Frame
  /** Time zone name, '' for the user's own. */
  readonly zone: string
  /** Marks to draw; default none. */
  readonly marks?: readonly Mark[]
}

/** A section of an SVG image; its top is 0. */
export interface Body {
  readonly parts: readonly string[]
  readonly height: number
}

/** Resolves a CSS colour of the page by name. */
export type ColorOf = (name: string) => string
