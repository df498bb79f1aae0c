/** Help, or the one line text where there is no more. pmLookupText(3) */
import { PcpError } from '../model/errors.ts'
import type { TextOptions } from './context-options.ts'

/** The text that the options want. `ask` gives that of a level, '' or PM_ERR_TEXT for none. PM_ERR_TEXT. */
export async function helpText(
  ask: (level: 'oneline' | 'help') => Promise<string>,
  { level = 'help', direct = false }: TextOptions,
): Promise<string> {
  if (level === 'oneline' || direct) return ask(level)
  const help = await ask(level).catch((error: unknown) => {
    if (error instanceof PcpError && error.code === 'PM_ERR_TEXT') return ''
    throw error
  })
  return help === '' ? ask('oneline') : help
}
