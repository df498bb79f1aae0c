/** The charts of one process. */
import type { ProcessFamily } from '../../model/process-sample.ts'
import { type Chart, derivedName, type Plot } from '../view/view.ts'
import type { ProcessRow } from './rows.ts'

/** Characters of the command in titles. */
const LONGEST = 40

/** Returns the charts of a process: CPU time, memory and disk. A host has live values of `proc` and recorded ones of `hotproc`. */
export function chartsOf(
  { pid, instance, command }: Pick<ProcessRow, 'pid' | 'instance' | 'command'>,
  families: readonly ProcessFamily[],
  source?: string,
): Omit<Chart, 'id'>[] {
  const name = `${command.slice(0, LONGEST).replaceAll('%', '')} (${pid})`
  const rest = {
    instances: { mode: 'instance', text: instance },
    optional: families.length > 1,
    ...(source === undefined ? {} : { source }),
  } as const
  const plots = (of: (family: ProcessFamily) => readonly Plot[]): readonly Plot[] => families.flatMap(of)
  const where = (family: ProcessFamily): string =>
    families.length === 1 ? '' : family === 'proc' ? ', live' : ', recorded'
  const plot = (metric: string, legend: string): Plot => ({ metric, legend, ...rest })
  const chart = (title: string, own: readonly Plot[]): Omit<Chart, 'id'> => ({
    title: `${title}: ${name}`,
    style: 'plot',
    legend: true,
    every: 5,
    plots: own,
  })
  return [
    {
      ...chart(
        'CPU',
        plots((family) =>
          (['utime', 'stime'] as const).map((part): Plot => {
            const expr = `rate(${family}.psinfo.${part})`
            return {
              ...plot(derivedName(expr), `${part === 'utime' ? 'user' : 'system'}${where(family)}`),
              expr,
            }
          }),
        ),
      ),
      unit: 'share',
    },
    chart(
      'Memory',
      plots((family) => [plot(`${family}.psinfo.rss`, `resident${where(family)}`)]),
    ),
    chart(
      'Disk',
      plots((family) => [
        plot(`${family}.io.read_bytes`, `read${where(family)}`),
        plot(`${family}.io.write_bytes`, `written${where(family)}`),
      ]),
    ),
  ]
}
