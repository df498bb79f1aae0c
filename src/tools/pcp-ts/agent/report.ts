/** Prints examined agents, and the list of agents. */
import type { ExaminedMetric } from '../../../pmcd/examine-agent.ts'
import type { Output } from '../../lib/tool.ts'
import type { ExaminedAgent } from './examine.ts'

/** Values of a metric that are printed. */
const MOST_VALUES = 20

/** Prints each metric with its values, then what is wrong. */
export function printExamined({ checked }: ExaminedAgent, stdout: Output): void {
  const { name, domain, metrics, problems, logged } = checked
  const number = domain === undefined ? 'states no domain' : `domain ${domain}`
  stdout.write(`agent ${name}, ${number}, ${count(metrics.length, 'metric')}\n`)
  for (const metric of metrics) printMetric(metric, stdout)
  for (const line of logged) stdout.write(`log: ${line}\n`)
  if (problems.length === 0) stdout.write('\nNothing is wrong.\n')
  else
    stdout.write(`\n${count(problems.length, 'problem')}:\n${problems.map((text) => `  ${text}\n`).join('')}`)
}

function printMetric({ name, desc, help, values }: ExaminedMetric, stdout: Output): void {
  stdout.write(`\n${name}  [${help}]\n`)
  for (const line of desc.split('\n')) if (line !== '') stdout.write(`    ${line.trim()}\n`)
  if (values.length === 0) stdout.write('    no value\n')
  for (const { instance, text } of values.slice(0, MOST_VALUES))
    stdout.write(instance === undefined ? `    value ${text}\n` : `    "${instance}" value ${text}\n`)
  if (values.length > MOST_VALUES) stdout.write(`    and ${values.length - MOST_VALUES} more\n`)
}

/** Formats a number of things. */
export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

/** Writes rows as a table with columns as wide as needed. */
export function printTable(rows: readonly (readonly string[])[], stdout: Output): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  for (const row of rows)
    stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd()}\n`,
    )
}
