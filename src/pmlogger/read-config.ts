/** Finds and reads the configuration of a logger, and what it includes. pmlogger(1) -c */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { decodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'
import { preprocess } from '../pmns/cpp.ts'
import type { Variables } from '../sys/config.ts'
import { isReadableFile, pmnsFiles } from '../sys/pmns-files.ts'
import { runShell } from '../sys/run-shell.ts'
import { type LoggerConfig, parseLoggerConfig } from './config.ts'

/** Where configurations are. */
export interface ConfigPlaces {
  readonly cwd: string
  readonly variables: Variables
  /** Hears what commands in the configuration complain of. */
  readonly warn: (text: string) => void
}

/** Reads a file: as it is named, else of that name where the installation keeps configurations. PM_ERR_CONV, ENOENT... */
export function readLoggerConfig(name: string, places: ConfigPlaces): LoggerConfig {
  const path = [name, join(configDir(places.variables), name)].find((candidate) =>
    isReadableFile(resolve(places.cwd, candidate)),
  )
  try {
    // What is no file is opened all the same, to say why it cannot be.
    const text = decodeText(readFileSync(resolve(places.cwd, path ?? name)))
    return parseConfigText(text, path ?? name, places)
  } catch (error) {
    const { code, text } = PcpError.from(error)
    if (code.startsWith('PM_ERR_')) throw error
    throw new PcpError(code, `Cannot open config file "${name}": ${text}`, { cause: error })
  }
}

/** Parses a configuration after its macros. PM_ERR_CONV, PM_ERR_PMNS of the preprocessor. */
export function parseConfigText(text: string, file: string, places: ConfigPlaces): LoggerConfig {
  const { cwd, variables, warn } = places
  const files = pmnsFiles(variables, { cwd, includeDirs: [configDir(variables)] })
  const whole = preprocess(text, {
    file,
    isPercent: true,
    isRestricted: true,
    resolve: (name) => files.findInclude(name, file),
    runShell: (command) => runShell(command, { cwd, env: variables, directive: '%shell', warn }),
  })
  return parseLoggerConfig(whole, file)
}

/** Where the installation keeps configurations. */
export function configDir(variables: Variables): string {
  return join(variables['PCP_VAR_DIR']!, 'config', 'pmlogger')
}
