/** YAML, for files of other programs. */
import { PcpError } from '../model/errors.ts'

/** Longest text in characters: parsing is slow and cannot be interrupted. docs/decisions/yaml.md */
const MOST_CHARACTERS = 1024 * 1024

/**
 * Parses one document; throws PM_ERR_CONV naming the file, and EFBIG for a long one. Aliases are limited, which otherwise multiply a small
 * text.
 */
export async function parseYaml(text: string, path: string): Promise<unknown> {
  if (text.length > MOST_CHARACTERS)
    throw new PcpError('EFBIG', `${path}: has more than ${MOST_CHARACTERS} characters of YAML; use JSON`)
  const { parse } = await import('yaml')
  try {
    return parse(text, { maxAliasCount: 100 })
  } catch (error) {
    throw new PcpError('PM_ERR_CONV', `${path}: ${(error as Error).message.split('\n')[0]}`)
  }
}
