/** A kind of chart. Each is a file in `kinds` and a row in `kinds/registry.ts`. */
import type { ComponentChild } from 'preact'
import type { ChartData } from '../data/chart-data.ts'
import type { Chart } from '../view/view.ts'
import type { Body, ColorOf, Drawn, ViewProps } from './drawn.ts'
import type { Stacking } from './stack.ts'
import type { List } from './table-rows.ts'

/** Views and pictures that arrive with the rest of the page. */
export type Drawings = typeof import('./drawings.ts')

/** All that the page knows of a kind of chart. */
export interface ChartKind {
  /** In views, in addresses, and in the style sheet as `style-ID`. */
  readonly id: string
  /** For people. */
  readonly title: string
  /** Draws it on the page; undefined while it needs `parts` that have not arrived. */
  readonly view: (props: ViewProps, parts: Drawings | undefined) => ComponentChild | undefined
  /** Draws it in a picture. */
  readonly svg: (drawn: Drawn, color: ColorOf, parts: Drawings) => Body
  /** The newest values in rows, where it shows these and not how they were over time. */
  readonly list?: (chart: Chart, data: ChartData, parts: Drawings) => List
  /** Does a legend name its lines and hide them? */
  readonly legend: boolean
  /** How lines are put on top of each other, for which they need values at the same moments. */
  readonly stacking?: Stacking
  /** Can lines of several sources be told apart in one chart? */
  readonly isOverlaid?: boolean
  /** Has each metric units of its own? Others share an axis. */
  readonly hasOwnUnits?: boolean
  /** Lines that are drawn at most, those with the largest values; default 64. */
  readonly most?: number
}
