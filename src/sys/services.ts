/** Names of TCP ports. services(5) */
import { readFileSync } from 'node:fs'

/** The TCP port of a service, by its name or an alias in /etc/services; undefined for one that is not there. */
export function servicePort(service: string): number | undefined {
  let text: string
  try {
    text = readFileSync('/etc/services', 'utf8')
  } catch {
    return undefined // without the table no name is known
  }
  for (const line of text.split('\n')) {
    const [name, port, ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/)
    const [number, protocol] = (port ?? '').split('/')
    if (protocol === 'tcp' && (name === service || aliases.includes(service))) return Number(number)
  }
  return undefined
}
